// Why a run found nothing: asked for with a click, because the answer takes further runs.
import { useMutation } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Explanation, RunView } from "~/api/model";
import { explainRun } from "~/api/rest";
import { pythonOf } from "~/artifact/python_of";
import { places } from "~/shell";
import { Button, CodeWords, ErrorNote } from "~/ui";
import { useFix } from "./use_fix";

/** Whether the rows look like nothing: there are none, or one of empty cells and zeros. The server decides. */
export function looksEmpty(run: RunView): boolean {
  const { rows } = run;
  if (run.status !== "succeeded" || !rows || run.mode === "dry_run" || pythonOf(run) !== null) return false;
  return (
    rows.length === 0 || (rows.length === 1 && (rows[0] ?? []).every((cell) => cell === null || cell === 0))
  );
}

export function WhyEmpty({ run }: { run: RunView }) {
  const explain = useMutation({ mutationFn: () => explainRun(run.run_id) });
  if (explain.data) return <Why run={run} why={explain.data} />;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button size="small" disabled={explain.isPending} onClick={() => explain.mutate()}>
        {explain.isPending ? "Counting…" : "Why is there nothing?"}
      </Button>
      {explain.error && <ErrorNote error={explain.error} onRetry={() => explain.mutate()} />}
    </div>
  );
}

function Why({ run, why }: { run: RunView; why: Explanation }) {
  const fix = useFix(run);
  return (
    <section aria-label="Why there is nothing" className="space-y-2 rounded-md border bg-panel p-3">
      <p className="break-words">
        <CodeWords text={why.text || "No condition of the query explains it."} />
      </p>
      {why.fixes.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {why.fixes.map((each) => (
            <Button
              key={each.title}
              size="small"
              disabled={fix.isPending}
              className="h-auto min-h-7 max-w-full shrink whitespace-normal py-1 text-left"
              onClick={() => fix.mutate(each)}
            >
              <span className="min-w-0">
                <CodeWords text={each.title} />
              </span>
            </Button>
          ))}
        </div>
      )}
      {fix.error && <ErrorNote error={fix.error} />}
      {why.run_ids.length > 0 && (
        <p className="text-ink-3">
          Counted by{" "}
          {why.run_ids.map((id, at) => (
            <span key={id}>
              {at > 0 && ", "}
              <Link to={places.run(id)} className="text-accent underline">
                {why.run_ids.length > 1 ? `run ${at + 1}` : "a run"}
              </Link>
            </span>
          ))}
        </p>
      )}
    </section>
  );
}
