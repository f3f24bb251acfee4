import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { hasEnded, type RunView } from "~/api/model";
import { threadQuery } from "~/api/threads";
import { pythonOf } from "~/artifact/python_of";
import { turnsFromState } from "~/events/restore";
import { count, duration, time } from "~/format";
import { places, useThreadId } from "~/shell";
import { Copy } from "~/ui";
import { Fact, Facts } from "./facts";
import { readingOf } from "./plan_reading";
import { Trouble } from "./trouble";
import type { Fix } from "./verdict";
import { Warnings } from "./verdict_note";

export function ReadingTab({ run, onFix }: { run: RunView; onFix: (fix: Fix) => void }) {
  const reading = useReading(run);
  const created = time(run.created_at);
  return (
    <div className="space-y-4">
      <Trouble run={run} onFix={onFix} />
      {reading && <p className="text-title first-letter:uppercase">{reading}</p>}
      {run.plan && (
        <Facts className="rounded-md border bg-panel p-3">
          {readingOf(run.plan).map(({ name, text }) => (
            <Fact key={name} name={name}>
              {text}
            </Fact>
          ))}
        </Facts>
      )}
      {!run.plan && !reading && (
        <p className="text-ink-2">
          {pythonOf(run) === null
            ? "SQL was handed in; no plan was made of a question."
            : "Python, run as it was written."}
        </p>
      )}
      <Warnings warnings={run.warnings} />
      <Facts>
        {run.question && <Fact name="Question">{run.question}</Fact>}
        <Fact name="Dataset">
          <Link
            to={places.dataset(run.dataset_id)}
            className="text-accent underline-offset-2 hover:underline"
          >
            {run.dataset_id}
          </Link>
        </Fact>
        <Fact name="Version">
          <Hash of={run.dataset_version} label="Copy the dataset's version" />
        </Fact>
        <Fact name="Proposed by">
          <Proposer run={run} />
        </Fact>
        <Fact name="Run">
          <Hash of={run.run_id} label="Copy the run's id" />
        </Fact>
        <Fact name="Asked">
          <time dateTime={run.created_at} title={created.raw}>
            {created.text}
          </time>
        </Fact>
      </Facts>
    </div>
  );
}

/** The sentence of the conversation that is open, where it has one about this run. */
function useReading(run: RunView): string {
  const threadId = useThreadId();
  const thread = useQuery({
    ...threadQuery(threadId ?? ""),
    enabled: threadId !== null && hasEnded(run.status),
  });
  const turns = thread.data ? turnsFromState(thread.data.values) : [];
  return turns.find((turn) => turn.run?.id === run.run_id || turn.runIds[0] === run.run_id)?.reading ?? "";
}

function Hash({ of, label }: { of: string; label: string }) {
  const short = of.replace(/^sha256:/, "").replace(/^(run_)?(.{4}).*(.{8})$/, "$1$2…$3");
  return (
    <span className="inline-flex items-center gap-1">
      <code title={of} className="font-mono text-[13px]">
        {short}
      </code>
      <span className="-my-1">
        <Copy text={of} label={label} />
      </span>
    </span>
  );
}

const BUILTIN: ReadonlyMap<string, string> = new Map([
  ["builtin", "The built-in planner, without a model"],
  ["builtin-reader", "The built-in reader, a small model: its likely parts are to be checked"],
]);

function Proposer({ run }: { run: RunView }) {
  const { origin, plan } = run;
  if (!origin) {
    if (pythonOf(run) !== null) return "Code that a person wrote or changed";
    return plan ? "A plan that was handed in" : "SQL that was handed in";
  }
  const cost = [
    origin.tokens_in + origin.tokens_out > 0 &&
      `${count(origin.tokens_in, "token")} read, ${count(origin.tokens_out, "token")} written`,
    origin.latency_ms > 0 && duration(origin.latency_ms),
    origin.repairs > 0 && count(origin.repairs, "repair"),
  ].filter((part) => part !== false);
  return (
    <>
      {BUILTIN.get(origin.proposer) ?? origin.proposer}
      {cost.length > 0 && <span className="block text-ink-3">{cost.join(" · ")}</span>}
    </>
  );
}
