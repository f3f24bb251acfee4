// The state of an answer, in one place: a mark with a word, how long, and what is happening or which run it was.
import { useEffect, useState } from "react";
import { hasEnded, MARKS, type RunStatus } from "~/api/model";
import { mainRunId, type Turn } from "~/events/turn";
import { duration } from "~/format";
import { useDetails } from "~/shell";
import { StatusDot } from "~/ui";
import type { Live } from "./session_state";
import { doing, shortRun } from "./wording";

/** The word of an answer that has ended; nothing where nothing was to be run. */
export function statusOf(turn: Turn): RunStatus | null {
  if (turn.ending === "stopped") return "cancelled";
  if (turn.ending === "waiting") return "pending";
  if (turn.ending === "failed") return "failed";
  if (turn.ending === "refused") return "rejected";
  return turn.run?.status ?? null;
}

/** Every run that has ended leaves a signed capsule, whatever came of it. */
export function isSealed(turn: Turn): boolean {
  return mainRunId(turn) !== null && turn.run !== null && hasEnded(turn.run.status);
}

export function StatusLine({ turn, live }: { turn: Turn; live: Live | null }) {
  if (turn.ending === null) return live ? <Running turn={turn} live={live} /> : null;
  const status = statusOf(turn);
  if (!status) return null;
  const waiting = turn.ending === "waiting";
  return (
    <Line>
      <StatusDot status={status} className="pl-4" />
      {turn.ending === "answered" && <Took ms={turn.run?.execTimeMs ?? null} />}
      {isSealed(turn) && !waiting && <Part>sealed</Part>}
      {turn.ending === "answered" &&
        turn.readAs?.trust.map((mark) => (
          <Part key={mark}>
            <span title={MARKS[mark].means}>{MARKS[mark].word}</span>
          </Part>
        ))}
      {waiting && <Part>waits for your decision</Part>}
      {turn.ending === "refused" && !mainRunId(turn) && <Part>nothing was run</Part>}
      {/* What ran before it is with its step. */}
      {!waiting && <RunButton runId={mainRunId(turn)} />}
    </Line>
  );
}

function Running({ turn, live }: { turn: Turn; live: Live }) {
  const elapsed = useElapsed(live.since);
  const begun = turn.thoughts.length > 0 && turn.run?.status !== "pending";
  return (
    <Line>
      <span role="status" className="inline-flex flex-wrap items-center">
        <StatusDot status={begun ? "running" : "pending"} className="pl-4" />
        <Part>{doing(turn, live)}</Part>
      </span>
      <Part>{(elapsed / 1000).toFixed(1)} s</Part>
    </Line>
  );
}

/** Where a part begins another line, the dot before it falls outside and is cut off. */
const Line = ({ children }: { children: React.ReactNode }) => (
  <p className="flex min-h-7 items-center overflow-x-clip text-ink-3 text-small">
    <span className="-ml-4 flex flex-wrap items-center">{children}</span>
  </p>
);

const Part = ({ children }: { children: React.ReactNode }) => (
  <span className="relative inline-flex items-center pl-4">
    <span aria-hidden className="absolute left-1.5">
      ·
    </span>
    <span>{children}</span>
  </span>
);

/** Rows that were kept from an earlier run took no time at all. */
function Took({ ms }: { ms: number | null }) {
  if (ms === null) return null;
  return <Part>{ms === 0 ? "kept from an earlier run" : duration(ms)}</Part>;
}

function RunButton({ runId }: { runId: string | null }) {
  const details = useDetails();
  if (!runId) return null;
  const open = details.runId === runId;
  return (
    <Part>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => (open ? details.close() : details.open(runId))}
        className="-mx-1 rounded px-1 py-0.5 text-ink-2 underline decoration-line-strong underline-offset-2 transition-colors hover:bg-hover hover:text-ink"
      >
        run {shortRun(runId)}…<span className="sr-only">, show details</span>
      </button>
    </Part>
  );
}

function useElapsed(since: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, now - since);
}
