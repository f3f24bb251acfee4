// An analysis in steps: each has a goal, a thought, code, and what came of it. Pure.
import type { RunStatus } from "~/api/model";
import type { Turn, TurnRun } from "./turn";

/** Code that was tried for a step; after an error there may be another. */
export interface Attempt {
  runId: string | null;
  /** Why this code: one line of whoever wrote it. */
  thought: string;
  code: string;
  /** Nothing before it is known to run. */
  status: RunStatus | null;
  output: string[];
}

export interface Step {
  number: number;
  /** What it is for, where that was said. */
  goal: string;
  attempts: Attempt[];
}

interface CodeEvent {
  run_id?: string | null;
  step?: number | null;
  code: string;
}

export function withCode(turn: Turn, { run_id = null, step, code }: CodeEvent): Turn {
  // Code without a number is another attempt at the one thing that was asked.
  const number = step ?? 1;
  const attempt: Attempt = { runId: run_id, thought: newestThought(turn), code, status: null, output: [] };
  const known = turn.steps.find((one) => one.number === number);
  // The same code told again, as after a reconnection, is no second attempt.
  if (known && run_id !== null && known.attempts.some((one) => one.runId === run_id)) return turn;
  const steps = known
    ? turn.steps.map((one) => (one === known ? { ...one, attempts: [...one.attempts, attempt] } : one))
    : [...turn.steps, { number, goal: goalOf(turn, number), attempts: [attempt] }];
  return { ...turn, steps, thoughtsUsed: turn.thoughts.length };
}

/** A run that begins belongs to the newest code that has none yet. */
export function withStepRun(turn: Turn, run: TurnRun): Turn {
  const last = turn.steps.at(-1)?.attempts.at(-1);
  const known = turn.steps.some((step) => step.attempts.some((one) => one.runId === run.id));
  return changed(turn, (one) =>
    one.runId === run.id || (!known && one === last && one.runId === null)
      ? { ...one, runId: run.id, status: run.status }
      : one,
  );
}

export function withStepOutput(turn: Turn, runId: string | null | undefined, text: string): Turn {
  if (!runId) return turn;
  return changed(turn, (one) => (one.runId === runId ? { ...one, output: [...one.output, text] } : one));
}

/** Whatever was under way when a turn ended is not under way any more. */
export function withoutRunning(turn: Turn): Turn {
  return changed(turn, (one) =>
    one.status === null || one.status === "pending" || one.status === "running"
      ? { ...one, status: "cancelled" }
      : one,
  );
}

function changed(turn: Turn, change: (attempt: Attempt) => Attempt): Turn {
  let touched = false;
  const steps = turn.steps.map((step) => {
    const attempts = step.attempts.map(change);
    if (attempts.every((one, at) => one === step.attempts[at])) return step;
    touched = true;
    return { ...step, attempts };
  });
  return touched ? { ...turn, steps } : turn;
}

/** Lines such as "Planning…" say what the machinery does; a thought is a sentence. */
function newestThought({ thoughts, thoughtsUsed }: Turn): string {
  return thoughts.slice(thoughtsUsed).findLast((one) => !one.endsWith("…")) ?? "";
}

/** A plan that is a list of steps says what each is for. */
function goalOf({ plan }: Turn, number: number): string {
  const steps = plan?.steps;
  const step: unknown = Array.isArray(steps) ? steps[number - 1] : null;
  if (typeof step === "string") return step;
  if (typeof step !== "object" || step === null) return "";
  const { title, goal, description } = step as Record<string, unknown>;
  const said = title ?? goal ?? description;
  return typeof said === "string" ? said : "";
}

export const newestStatus = (step: Step): RunStatus => step.attempts.at(-1)?.status ?? "pending";
