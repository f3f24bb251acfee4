// An analysis in steps: each has a goal, a thought, code, and what came of it. Pure.
import type { CodeEvent, RunStatus } from "~/api/model";
import type { CellProps } from "~/api/wire";
import type { Turn, TurnRun } from "./turn";

/** Code that was tried for a step; after an error there may be another. */
export interface Attempt {
  runId: string | null;
  /** Why this code, in one line of its author. */
  thought: string;
  code: string;
  /** Nothing before it is known to run. */
  status: RunStatus | null;
  execTimeMs: number | null;
  output: string[];
  /** What was wrong with it, and what to write instead, as the author of the next attempt says it. */
  diagnosis: string;
}

export interface Step {
  number: number;
  /** What it is for, where that was said. */
  goal: string;
  attempts: Attempt[];
}

type Code = Pick<CodeEvent, "code"> & Partial<Omit<CodeEvent, "type">>;

/** Lines such as "Planning…" say what the machinery does; a thought is a sentence. */
const isThought = (text: string): boolean => !text.endsWith("…");

/** The first thought after an error is about that error. */
export function withThought(turn: Turn, text: string): Turn {
  const heard = { ...turn, thoughts: [...turn.thoughts, text] };
  const last = turn.steps.at(-1)?.attempts.at(-1);
  if (!last || !isThought(text) || !hasFailed(last) || last.diagnosis !== "") return heard;
  const diagnosed = changed(heard, (one) => (one === last ? { ...one, diagnosis: text } : one));
  return { ...diagnosed, thoughtsUsed: diagnosed.thoughts.length };
}

export function withCode(turn: Turn, { run_id = null, step, goal, code }: Code): Turn {
  // Code without a number is another attempt at the one thing that was asked.
  const number = step ?? 1;
  const known = turn.steps.find((one) => one.number === number);
  // The same code sent again, as after a reconnection, is no second attempt.
  if (known && run_id !== null && known.attempts.some((one) => one.runId === run_id)) return turn;
  // What never ran, such as code that a person changed before they approved it, gives way.
  const kept = known?.attempts.filter((one) => one.runId !== null || one.status !== null) ?? [];
  const replaced = known?.attempts.find((one) => !kept.includes(one));
  const thought = newestThought(turn) || (replaced?.code === code ? replaced.thought : "");
  const attempts = [...kept, { ...NOT_RUN, runId: run_id, thought, code }];
  const steps = known
    ? turn.steps.map((one) => (one === known ? { ...one, attempts } : one))
    : [...turn.steps, { number, goal: goal || (plannedSteps(turn)[number - 1] ?? ""), attempts }];
  return { ...turn, steps, thoughtsUsed: turn.thoughts.length };
}

const NOT_RUN = { status: null, execTimeMs: null, output: [], diagnosis: "" };

/** Code that waits for approval; a thread that was opened again does not have it yet. */
export function withWaitingCode(turn: Turn, code: string, description: string): Turn {
  const last = turn.steps.at(-1);
  const newest = last?.attempts.at(-1);
  if (newest?.runId === null && newest.code === code) return turn;
  const goal = description.split(/\n\n`{3,}/)[0]?.trim() ?? "";
  const same = last !== undefined && newest?.status !== "succeeded";
  return withCode(turn, { step: same ? last.number : (last?.number ?? 0) + 1, goal, code });
}

/** A run that begins belongs to the newest code that has none yet. */
export function withStepRun(turn: Turn, run: TurnRun): Turn {
  const last = turn.steps.at(-1)?.attempts.at(-1);
  const known = turn.steps.some((step) => step.attempts.some((one) => one.runId === run.id));
  return changed(turn, (one) =>
    one.runId === run.id || (!known && one === last && one.runId === null)
      ? { ...one, runId: run.id, status: run.status, execTimeMs: run.execTimeMs }
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

/** Steps as a thread keeps them. */
export function stepsOf(cells: readonly CellProps[]): Step[] {
  const steps = new Map<number, Step>();
  for (const { step, goal, code, run_id, status, stdout, thought = "", diagnosis = "" } of cells) {
    const output = stdout.trim() ? [stdout] : [];
    const attempt = { ...NOT_RUN, runId: run_id, thought, code, status, output, diagnosis };
    const known = steps.get(step) ?? { number: step, goal, attempts: [] };
    steps.set(step, { ...known, attempts: [...known.attempts, attempt] });
  }
  return [...steps.values()];
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

function newestThought({ thoughts, thoughtsUsed }: Turn): string {
  return thoughts.slice(thoughtsUsed).findLast(isThought) ?? "";
}

/** A plan that is a list of steps says what each is for; any other plan has none. */
export function plannedSteps({ plan }: Pick<Turn, "plan">): string[] {
  return Array.isArray(plan?.steps) ? plan.steps.map(goalOf) : [];
}

function goalOf(step: unknown): string {
  if (typeof step === "string") return step;
  if (typeof step !== "object" || step === null) return "";
  const { title, goal, description } = step as Record<string, unknown>;
  const said = title ?? goal ?? description;
  return typeof said === "string" ? said : "";
}

export function runOf({ steps }: Turn, runId: string | undefined): TurnRun | null {
  const found = steps.flatMap((step) => step.attempts).find((one) => one.runId === runId);
  if (!found?.runId || found.status === null) return null;
  return { id: found.runId, status: found.status, execTimeMs: found.execTimeMs };
}

export const hasFailed = ({ status }: Attempt): boolean => status === "failed" || status === "rejected";

export const newestStatus = (step: Step): RunStatus => step.attempts.at(-1)?.status ?? "pending";

export const attemptCount = ({ steps }: Turn): number =>
  steps.reduce((sum, step) => sum + step.attempts.length, 0);
