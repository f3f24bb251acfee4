// Code that was tried, what it printed, and why it did not work where it did not.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { RunView } from "~/api/model";
import { runQuery } from "~/api/queries";
import { artifactsOf } from "~/events/artifact";
import { type Attempt, hasFailed } from "~/events/steps";
import { sentence } from "~/format";
import { CodeWords } from "~/ui";
import { ArtifactView } from "./artifact_view";
import { Output } from "./output";
import { nameOf } from "./place";
import { PythonCode } from "./python_code";

interface AttemptViewProps {
  attempt: Attempt;
  title: string;
  /** Which one it is, read aloud: `step 2, attempt 1`. */
  place: string;
  /** While it runs; it is put away when it has run. */
  open: boolean;
  /** A person is deciding about it: the code stands there. */
  shownElsewhere?: boolean;
  /** Artifacts that the answer shows: they are not drawn once more. */
  placed: readonly string[];
}

export function AttemptView({
  attempt,
  title,
  place,
  open,
  shownElsewhere = false,
  placed,
}: AttemptViewProps) {
  const failed = hasFailed(attempt);
  const [looked, setLooked] = useState(open);
  useEffect(() => setLooked(open), [open]);
  const ended = failed || attempt.status === "succeeded";
  // What was not told while it ran is read from the run, when someone wants to see it.
  const wanted = ended && attempt.runId !== null && (failed || (looked && !open));
  const run = useQuery({ ...runQuery(attempt.runId ?? ""), enabled: wanted }).data;
  // While it runs, what it printed comes with what went wrong; the run has them apart.
  const said = run ? run.stdout : attempt.output.join("\n");
  return (
    <div className="min-w-0 space-y-2">
      {attempt.thought && (
        <p className="break-words text-ink-2">
          <CodeWords text={attempt.thought} />
        </p>
      )}
      {!shownElsewhere && (
        <details open={looked} onToggle={(event) => setLooked(event.currentTarget.open)}>
          <summary className="w-fit cursor-pointer text-ink-3 text-small hover:text-ink">{title}</summary>
          <div className="mt-2 space-y-2">
            <PythonCode code={attempt.code} label={`Python code, ${place}`} />
            <Output text={said} label={`Output, ${place}`} />
            {run?.stderr && (
              <Output text={run.stderr} label={`Errors of the code, ${place}`} trouble={failed} />
            )}
            {run && looked && <Shown run={run} placed={placed} />}
          </div>
        </details>
      )}
      {failed && run?.error && (
        <p className="break-words text-danger">
          <CodeWords text={sentence(troubleOf(run.error))} />
          {run.error.suggestion && !attempt.diagnosis && (
            <span className="text-ink-2">
              {" "}
              <CodeWords text={sentence(run.error.suggestion)} />
            </span>
          )}
        </p>
      )}
      {attempt.diagnosis && (
        <p className="break-words text-ink-2">
          <CodeWords text={attempt.diagnosis} />
        </p>
      )}
    </div>
  );
}

/** The name of an error says what kind it is: some have hardly any other words. */
function troubleOf({ message, details }: NonNullable<RunView["error"]>): string {
  const kind = typeof details?.type === "string" ? details.type : "";
  return kind && !message.startsWith(kind) ? `${kind}: ${message}` : message;
}

/** What the code showed on the way; what the answer shows is only named. */
function Shown({ run, placed }: { run: RunView; placed: readonly string[] }) {
  const all = artifactsOf(run.artifacts);
  const elsewhere = all.filter((one) => placed.includes(one.id));
  return (
    <>
      {all
        .filter((one) => !placed.includes(one.id))
        .map((artifact) => (
          <ArtifactView key={artifact.id} artifact={artifact} runId={run.run_id} datasetId={run.dataset_id} />
        ))}
      {elsewhere.length > 0 && (
        <p className="text-ink-3 text-small">In the answer: {elsewhere.map(nameOf).join(", ")}</p>
      )}
    </>
  );
}
