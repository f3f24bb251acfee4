// Why a run has no result, and the ways on.
import type { RunView } from "~/api/model";
import { pythonOf } from "~/artifact/python_of";
import { Button, CodeWords, ErrorNote } from "~/ui";
import { marked } from "./marked";
import { useFix } from "./use_fix";

export function RunTrouble({ run, error }: { run: RunView; error: NonNullable<RunView["error"]> }) {
  const apply = useFix(run);
  return (
    <div className="space-y-3">
      <ErrorNote
        error={named(run, error)}
        // A refusal is help, not a failure.
        className={run.status === "rejected" ? "border-warning/40 bg-warning-soft [&>svg]:text-warning" : ""}
      >
        {run.fixes.length > 0 &&
          run.fixes.map((fix) => (
            <Button key={fix.title} size="small" disabled={apply.isPending} onClick={() => apply.mutate(fix)}>
              <span>
                <CodeWords text={fix.title} />
              </span>
            </Button>
          ))}
      </ErrorNote>
      {apply.error && <ErrorNote error={apply.error} />}
      <RefusedText run={run} />
    </div>
  );
}

/** An exception of the code itself, as Python names it: `'total'` alone says little. */
function named(run: RunView, error: NonNullable<RunView["error"]>) {
  const kind = error.details?.type;
  if (run.status !== "failed" || pythonOf(run) === null || !run.stderr || typeof kind !== "string")
    return error;
  return { ...error, message: `${kind}: ${error.message}` };
}

/** What was judged. */
const textOf = (run: RunView): string => run.sql ?? pythonOf(run) ?? "";

/** Whether the gate said which part of the text it refuses. */
export const isMarked = (run: RunView): boolean => textOf(run) !== "" && isPlaced(run.verdict);

const isPlaced = (verdict: RunView["verdict"]): boolean =>
  verdict?.decision === "refused" && typeof verdict.position === "number";

/** The text with the refused construct underlined. */
function RefusedText({ run }: { run: RunView }) {
  const { verdict } = run;
  if (!verdict || typeof verdict.position !== "number" || !isMarked(run)) return null;
  const { before, within, after } = marked(textOf(run), verdict.position, verdict.length);
  return (
    <pre className="overflow-auto whitespace-pre-wrap rounded-md border bg-panel p-3 font-mono text-[13px] leading-5">
      {before}
      <mark className="bg-transparent text-danger underline decoration-2 decoration-wavy underline-offset-4">
        {within}
      </mark>
      {after}
    </pre>
  );
}
