import { useEffect, useState } from "react";
import { earlierRun, hasEnded, type RunView } from "~/api/model";
import { pythonOf } from "~/artifact/python_of";
import { count, duration, time } from "~/format";
import { CodeText } from "~/ui";
import { Fact, Facts, Section } from "./facts";
import { useShowRun } from "./rerun";
import { barOf, timelineOf } from "./timeline";
import { Trouble } from "./trouble";
import type { Fix } from "./verdict";

export function LogTab({ run, onFix }: { run: RunView; onFix: (fix: Fix) => void }) {
  return (
    <div className="space-y-6">
      <Trouble run={run} onFix={onFix} />
      <Bars run={run} />
      <Happened run={run} />
      <Output run={run} />
    </div>
  );
}

function Bars({ run }: { run: RunView }) {
  const now = useNow(!hasEnded(run.status));
  const { steps: all, total } = timelineOf(run, now);
  // No plan is behind Python.
  const steps = all.filter(({ name }) => name !== "Plan to SQL" || pythonOf(run) === null);
  return (
    <Section title="Where the time went">
      <ol className="space-y-1.5">
        {steps.map((step) => {
          const { left, width } = barOf(step, total);
          return (
            <li key={step.name} className="grid grid-cols-[112px_minmax(0,1fr)_64px] items-center gap-2">
              <span className="truncate text-ink-2">{step.name}</span>
              <span aria-hidden className="relative h-2 rounded-sm bg-sunken">
                <span
                  className="absolute inset-y-0 rounded-sm bg-accent"
                  style={{ left: `${left}%`, width: `${width}%` }}
                />
              </span>
              <span className="text-right">{duration(step.ms)}</span>
            </li>
          );
        })}
        <li className="grid grid-cols-[112px_minmax(0,1fr)_64px] items-center gap-2 border-t pt-1.5 font-medium">
          <span>{hasEnded(run.status) ? "Total" : "So far"}</span>
          <span aria-hidden />
          <span className="text-right">{duration(total)}</span>
        </li>
      </ol>
    </Section>
  );
}

function Happened({ run }: { run: RunView }) {
  const show = useShowRun();
  const { cached_from, exec_time_ms } = run;
  const earlier = earlierRun(run);
  return (
    <Facts>
      <Moment name="Accepted" at={run.created_at} />
      {exec_time_ms !== null && run.status === "succeeded" && !cached_from && (
        <Fact name={pythonOf(run) === null ? "Query itself" : "Code itself"}>{duration(exec_time_ms)}</Fact>
      )}
      {run.row_count !== null && (
        <Fact name="Result">
          {count(run.row_count, "row")}
          {run.truncated && ", cut at the limit"}
        </Fact>
      )}
      {cached_from && (
        <Fact name="Answered from">
          {earlier === null ? (
            "an earlier, identical run of another person"
          ) : (
            <button
              type="button"
              className="text-accent underline-offset-2 hover:underline"
              onClick={() => show(earlier)}
            >
              an earlier, identical run
            </button>
          )}
        </Fact>
      )}
    </Facts>
  );
}

function Moment({ name, at }: { name: string; at: string | null }) {
  if (!at) return null;
  const shown = time(at);
  return (
    <Fact name={name}>
      <time dateTime={at} title={shown.raw}>
        {shown.text}
      </time>
    </Fact>
  );
}

function Output({ run }: { run: RunView }) {
  const { stdout, stderr } = run;
  if (!stdout && !stderr) {
    return hasEnded(run.status) ? <p className="text-ink-3">The sandbox printed nothing.</p> : null;
  }
  return (
    <>
      {stdout && (
        <Section title="Output">
          <CodeText label="the output" text={stdout} />
        </Section>
      )}
      {stderr && (
        <Section title="Messages">
          <CodeText label="the messages" text={stderr} />
        </Section>
      )}
    </>
  );
}

/** The time, once a tenth of a second while something is under way. */
function useNow(ticking: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!ticking) return;
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}
