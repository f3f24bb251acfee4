// Where a run's time went, step after step.
import type { RunView } from "~/api/model";

export interface Step {
  name: string;
  /** Milliseconds after the run was accepted. */
  start: number;
  ms: number;
}

export interface Timeline {
  steps: Step[];
  /** From accepted to ended, or so far. */
  total: number;
}

type Timed = Pick<RunView, "created_at" | "started_at" | "finished_at" | "stats">;

const STEPS: readonly [name: string, stats: readonly string[]][] = [
  ["Plan to SQL", ["resolve_ms", "write_sql_ms"]],
  ["Gate", ["judge_ms"]],
  ["Earlier answers", ["recall_ms"]],
  ["Sandbox", ["execute_ms"]],
  ["Chart", ["draw_ms"]],
];

/** `now` for a run that has not ended. */
export function timelineOf(run: Timed, now: number): Timeline {
  const accepted = Date.parse(run.created_at);
  const ended = run.finished_at ? Date.parse(run.finished_at) : now;
  // A run that was cancelled in the queue never started.
  const started = run.started_at ? Date.parse(run.started_at) : ended;
  const queued = Math.max(0, started - accepted);
  const steps: Step[] = [{ name: "Queue", start: 0, ms: queued }];
  let at = queued;
  for (const [name, from] of STEPS) {
    const known = from.filter((stat) => run.stats[stat] !== undefined);
    if (known.length === 0) continue;
    const ms = known.reduce((sum, stat) => sum + (run.stats[stat] ?? 0), 0);
    steps.push({ name, start: at, ms });
    at += ms;
  }
  // Times of day are whole milliseconds, steps are not: the steps may come out a little longer.
  const total = Math.max(ended - accepted, at);
  const rest = total - at;
  if (run.finished_at !== null && run.started_at !== null && rest >= 1)
    steps.push({ name: "Capsule", start: at, ms: rest });
  if (run.finished_at === null && run.started_at !== null)
    steps.push({ name: "Under way", start: at, ms: rest });
  return { steps, total };
}

/** A bar's place, in percent of the whole; what is too short to be seen gets a hair's breadth. */
export function barOf(step: Step, total: number): { left: number; width: number } {
  if (total <= 0) return { left: 0, width: 0 };
  const width = Math.min(100, Math.max((step.ms / total) * 100, 0.75));
  return { left: Math.max(0, Math.min((step.start / total) * 100, 100 - width)), width };
}
