// Code that was tried, what it printed, and why it did not work where it did not.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runQuery } from "~/api/queries";
import type { Attempt } from "~/events/steps";
import { sentence } from "~/format";
import { CodeWords } from "~/ui";
import { Output } from "./output";
import { PythonCode } from "./python_code";

interface AttemptViewProps {
  attempt: Attempt;
  title: string;
  /** While it runs; it is put away when it has run. */
  open: boolean;
}

export function AttemptView({ attempt, title, open }: AttemptViewProps) {
  const failed = attempt.status === "failed" || attempt.status === "rejected";
  const [looked, setLooked] = useState(false);
  const ended = failed || attempt.status === "succeeded";
  // What was not told while it ran is read from the run, when someone wants to see it.
  const wanted = ended && attempt.runId !== null && (failed || (looked && attempt.output.length === 0));
  const run = useQuery({ ...runQuery(attempt.runId ?? ""), enabled: wanted }).data;
  const said = attempt.output.length > 0 ? attempt.output.join("\n") : (run?.stdout ?? "");
  return (
    <div className="min-w-0 space-y-2">
      {attempt.thought && (
        <p className="break-words text-ink-2">
          <CodeWords text={attempt.thought} />
        </p>
      )}
      <details open={open} onToggle={(event) => setLooked(event.currentTarget.open)}>
        <summary className="w-fit cursor-pointer text-ink-3 text-small hover:text-ink">{title}</summary>
        <div className="mt-2 space-y-2">
          <PythonCode code={attempt.code} />
          <Output text={said} label="Output" />
          {run?.stderr && <Output text={run.stderr} label="Errors of the code" trouble={failed} />}
        </div>
      </details>
      {failed && run?.error && (
        <p className="break-words text-danger">
          <CodeWords text={sentence(run.error.message)} />
          {run.error.suggestion && (
            <span className="text-ink-2">
              {" "}
              <CodeWords text={sentence(run.error.suggestion)} />
            </span>
          )}
        </p>
      )}
    </div>
  );
}
