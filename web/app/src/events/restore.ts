// Turns from a thread's kept state: what a reload, another tab or an older thread has to go by.
import type { RunStatus } from "~/api/model";
import {
  type About,
  type AnswerProps,
  type ConversationState,
  chosenIn,
  type ProgressProps,
  textOf,
  type WireMessage,
  type WireUi,
} from "~/api/wire";
import { artifactsOf } from "./artifact";
import { reduceInterrupt } from "./reduce";
import { attemptCount, stepsOf, withCode, withStepOutput, withStepRun } from "./steps";
import { newTurn, type Turn, withNext } from "./turn";

/** All turns of a thread, oldest first. The last one may be under way: its `ending` is null. */
export function turnsFromState(state: ConversationState | null | undefined): Turn[] {
  const beside = uiByMessage(state?.ui ?? []);
  const turns: Turn[] = [];
  for (const message of state?.messages ?? []) {
    if (message.type === "human") {
      turns.push(newTurn(textOf(message.content), message.id ?? null, chosenIn(message)));
      continue;
    }
    const turn = turns.pop();
    // A greeting comes before any question and is not part of a turn.
    if (turn === undefined) continue;
    turns.push(withMessage(turn, message, beside.get(message.id ?? "") ?? []));
  }
  return withWaiting(turns, state);
}

function withMessage(turn: Turn, message: WireMessage, beside: WireUi[]): Turn {
  if (message.type === "tool") return withToolResult(turn, message);
  if (message.type !== "ai") return turn;
  const about = message.additional_kwargs?.sandtable;
  if (about && "ending" in about) return withEnding(turn, message, about, beside);
  return beside.reduce(withProgress, withCall(turn, message));
}

function withCall(turn: Turn, message: WireMessage): Turn {
  const args = message.tool_calls?.[0]?.args;
  if (args === undefined) return turn;
  if (typeof args.code === "string") {
    const { code, step, goal } = args;
    return withCode(turn, {
      code,
      ...(typeof step === "number" ? { step } : {}),
      ...(typeof goal === "string" ? { goal } : {}),
    });
  }
  return { ...turn, plan: args.plan ?? turn.plan, sql: args.sql ?? turn.sql };
}

function withProgress(turn: Turn, ui: WireUi): Turn {
  if (ui.name !== "progress") return turn;
  const { run_id, status } = ui.props as unknown as ProgressProps;
  return run_id && status ? withRun(turn, run_id, status) : turn;
}

/** The result of a tool call has the run's status, also where no progress was kept. */
function withToolResult(turn: Turn, message: WireMessage): Turn {
  const result = jsonOf(textOf(message.content));
  if (typeof result?.run_id !== "string" || typeof result.status !== "string") return turn;
  const ran = withRun(turn, result.run_id, result.status as RunStatus);
  const known = typeof result.stdout === "string" && result.stdout.trim() !== "";
  return known ? withStepOutput(ran, result.run_id, String(result.stdout)) : ran;
}

function withRun(turn: Turn, id: string, status: RunStatus): Turn {
  const execTimeMs = turn.run?.id === id ? turn.run.execTimeMs : null;
  const run = { id, status, execTimeMs };
  return { ...withStepRun(turn, run), run };
}

function withEnding(turn: Turn, message: WireMessage, about: About, beside: WireUi[]): Turn {
  const ended: Turn = {
    ...turn,
    answerId: message.id ?? null,
    text: about.text ?? textOf(message.content),
    ending: about.ending,
    runIds: about.run_ids,
    suggestions: about.suggestions,
    choices: about.choices ?? [],
    problem: about.problem,
  };
  const answer = beside.find((ui) => ui.name === "answer");
  const whole = answer ? withAnswer(ended, answer.props as unknown as AnswerProps) : ended;
  return about.remaining ? withNext(whole) : whole;
}

function withAnswer(turn: Turn, props: AnswerProps): Turn {
  const execTimeMs = props.stats?.exec_time_ms ?? null;
  return {
    ...turn,
    reading: props.reading,
    readAs: props.read_as ?? null,
    plan: props.plan ?? turn.plan,
    sql: props.sql ?? turn.sql,
    logs: props.logs ?? [],
    run: { id: props.run_id, status: "succeeded", execTimeMs },
    table: props.rows
      ? {
          runId: props.run_id,
          columns: props.columns,
          rows: props.rows,
          rowCount: props.row_count ?? props.rows.length,
          truncated: props.truncated,
        }
      : null,
    artifacts: artifactsOf(props.artifacts),
    ...withSteps(turn, props),
    chart: props.figure ? { runId: props.run_id, figure: props.figure } : null,
  };
}

/** The messages of the thread tell of every cell, shortly; older answers have nothing else. */
function withSteps(turn: Turn, props: AnswerProps): Partial<Turn> {
  const steps = stepsOf(props.steps ?? []);
  const whole = attemptCount({ ...turn, steps }) >= attemptCount(turn);
  return steps.length > 0 && whole ? { steps } : {};
}

function withWaiting(turns: Turn[], state: ConversationState | null | undefined): Turn[] {
  const last = turns.at(-1);
  return last ? [...turns.slice(0, -1), reduceInterrupt(last, state?.__interrupt__)] : turns;
}

function uiByMessage(all: WireUi[]): Map<string, WireUi[]> {
  const found = new Map<string, WireUi[]>();
  for (const ui of all) {
    const id = ui.metadata?.message_id;
    if (id) found.set(id, [...(found.get(id) ?? []), ui]);
  }
  return found;
}

function jsonOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    // A tool's text need not be JSON; then it tells nothing that is needed here.
    return null;
  }
}
