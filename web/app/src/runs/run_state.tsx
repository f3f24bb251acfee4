import type { ReactNode } from "react";
import { Link } from "react-router";
import { earlierRun, hasEnded, type RunView } from "~/api/model";
import { ago, count, duration, time } from "~/format";
import { places } from "~/shell";
import { Copy, StatusDot } from "~/ui";
import { tookMs } from "./run_words";
import { useNow } from "./use_now";

/** One line: the state, and what it took. */
export function RunState({ run }: { run: RunView }) {
  const ended = hasEnded(run.status);
  const now = useNow(ended ? 30_000 : 100);
  const took = tookMs(run, now);
  const earlier = earlierRun(run);
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-ink-3 text-small">
      <StatusDot status={run.status} className="text-body" />
      {run.status === "pending" && <span>waiting for its turn</span>}
      {took !== null && (
        <span>{ended ? duration(took) : `sealed sandbox · ${duration(Math.floor(took / 100) * 100)}`}</span>
      )}
      {run.row_count !== null && <span>{rowsText(run)}</span>}
      {run.mode === "dry_run" && <span>dry run: bound and explained, not run</span>}
      {run.cached_from && (
        <span>
          answered from{" "}
          {earlier === null ? "an earlier run" : <Quiet to={places.run(earlier)}>an earlier run</Quiet>}
        </span>
      )}
      <Quiet to={places.dataset(run.dataset_id)}>{run.dataset_id}</Quiet>
      <time dateTime={run.created_at} title={time(run.created_at).text}>
        {ago(run.created_at, now).text}
      </time>
      <span className="inline-flex items-center gap-1">
        <code className="max-w-40 truncate font-mono" title={run.run_id}>
          {run.run_id}
        </code>
        <Copy text={run.run_id} label="Copy the run's id" />
      </span>
    </p>
  );
}

const Quiet = ({ to, children }: { to: string; children: ReactNode }) => (
  <Link to={to} className="text-ink-2 underline decoration-line-strong hover:text-accent">
    {children}
  </Link>
);

function rowsText(run: RunView): string {
  const rows = count(run.row_count ?? 0, "row");
  return run.truncated ? `first ${rows}` : rows;
}
