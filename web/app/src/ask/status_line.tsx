// The state of an answer, in one place: a mark with a word, how long, and what is happening or which run it was.
import { useEffect, useState } from "react";
import type { RunStatus } from "~/api/model";
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

export function StatusLine({ turn, live }: { turn: Turn; live: Live | null }) {
  if (turn.ending === null) return live ? <Running turn={turn} live={live} /> : null;
  const status = statusOf(turn);
  if (!status) return null;
  return (
    <p className="flex min-h-7 flex-wrap items-center gap-x-2 text-ink-3 text-small">
      <StatusDot status={status} />
      {turn.ending === "answered" && <Took ms={turn.run?.execTimeMs ?? null} />}
      {turn.ending === "waiting" && <Part>waits for your decision</Part>}
      {turn.ending === "refused" && !mainRunId(turn) && <Part>nothing was run</Part>}
      <RunButton runId={mainRunId(turn)} />
    </p>
  );
}

function Running({ turn, live }: { turn: Turn; live: Live }) {
  const elapsed = useElapsed(live.since);
  const begun = turn.thoughts.length > 0 && turn.run?.status !== "pending";
  return (
    <p className="flex min-h-7 flex-wrap items-center gap-x-2 text-ink-3 text-small">
      <span role="status" className="inline-flex items-center gap-x-2">
        <StatusDot status={begun ? "running" : "pending"} />
        <Part>{doing(turn, live)}</Part>
      </span>
      <Part>{(elapsed / 1000).toFixed(1)} s</Part>
    </p>
  );
}

const Part = ({ children }: { children: React.ReactNode }) => (
  <span className="inline-flex items-center gap-x-2">
    <span aria-hidden>·</span>
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
        className="rounded px-1 py-0.5 text-ink-2 underline decoration-line-strong underline-offset-2 transition-colors hover:bg-hover hover:text-ink"
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
