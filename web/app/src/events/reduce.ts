// The turn after an event. Pure and total: what is not understood leaves the turn as it is.
import { figureOf, type SandtableEvent } from "~/api/model";
import type { WireError, WireInterrupt } from "~/api/wire";
import { artifactOf, withArtifact } from "./artifact";
import {
  runOf,
  withCode,
  withoutRunning,
  withStepOutput,
  withStepRun,
  withThought,
  withWaitingCode,
} from "./steps";
import { type Turn, type TurnRun, withNext } from "./turn";

export function reduce(turn: Turn, event: unknown): Turn {
  if (!isSandtableEvent(event)) return turn;
  switch (event.type) {
    case "thought":
      return withThought(turn, event.text);
    case "plan":
      return { ...turn, plan: event.plan, reading: event.reading, readAs: event.read_as ?? null };
    case "sql":
      return { ...turn, sql: event.sql };
    case "run":
      return withRun(turn, {
        id: event.run_id,
        status: event.status,
        execTimeMs: event.exec_time_ms ?? null,
      });
    case "log":
      return withStepOutput({ ...turn, logs: [...turn.logs, event.text] }, event.run_id, event.text);
    case "code":
      return withCode(turn, event);
    case "artifact": {
      // It comes from a stranger's code by way of the server: what cannot be understood is not shown.
      const artifact = artifactOf(event.artifact);
      return artifact ? { ...turn, artifacts: withArtifact(turn.artifacts, artifact) } : turn;
    }
    case "table":
      return {
        ...turn,
        table: {
          runId: event.run_id,
          columns: event.columns,
          rows: event.rows,
          rowCount: event.row_count,
          truncated: event.truncated,
        },
      };
    case "chart": {
      const figure = figureOf(event.figure);
      return figure ? { ...turn, chart: { runId: event.run_id, figure } } : turn;
    }
    case "delta":
      return { ...turn, text: turn.text + event.text };
    case "message": {
      const ended: Turn = {
        ...(event.ending === "waiting" ? turn : withoutRunning(turn)),
        // The newest run of an analysis may be that of its chart.
        run: runOf(turn, event.run_ids?.[0]) ?? turn.run,
        text: event.text,
        ending: event.ending,
        runIds: event.run_ids ?? [],
        suggestions: event.suggestions ?? [],
        choices: event.choices ?? [],
        problem: event.problem ?? null,
      };
      return event.remaining ? withNext(ended) : ended;
    }
    case "error":
      return { ...turn, ending: "failed", problem: event.problem };
  }
}

/** The type makes a missing or an unknown one an error. */
const TYPES: Record<SandtableEvent["type"], true> = {
  thought: true,
  plan: true,
  sql: true,
  code: true,
  run: true,
  log: true,
  table: true,
  chart: true,
  artifact: true,
  delta: true,
  message: true,
  error: true,
};

/** Whether a `custom` event of the stream is one of ours; generative UI comes the same way. */
function isSandtableEvent(value: unknown): value is SandtableEvent {
  if (typeof value !== "object" || value === null) return false;
  const type = (value as { type?: unknown }).type;
  return typeof type === "string" && Object.hasOwn(TYPES, type);
}

/** A new run, such as the one of a repaired query, replaces what the one before had shown. */
function withRun(turn: Turn, run: TurnRun): Turn {
  const stepped = withStepRun(turn, run);
  if (turn.run === null || turn.run.id === run.id) return { ...stepped, run };
  return { ...stepped, run, table: null, chart: null };
}

/** The stream's own `error`: the person stopped the turn, or the machinery broke. */
export function reduceError(turn: Turn, error: WireError): Turn {
  if (turn.ending !== null) return turn;
  if (error.error === "UserInterrupt") return stopped(turn);
  return {
    ...turn,
    ending: "failed",
    problem: {
      code: error.error,
      message: error.message,
      suggestion:
        error.error === "ServerStopped" ? "Ask again: the conversation goes on." : "Try again in a moment.",
    },
  };
}

/** A person has to approve SQL or code before it runs: the thread's state says so, no event does. */
export function reduceInterrupt(turn: Turn, interrupts: readonly WireInterrupt[] | undefined): Turn {
  const request = interrupts?.[0]?.value?.action_requests?.[0];
  if (!request || turn.ending !== null) return turn;
  const { sql, code } = request.args;
  if (request.name === "execute_python" && code !== undefined)
    return {
      ...withWaitingCode(turn, code, request.description ?? ""),
      ending: "waiting",
      waiting: { tool: "execute_python", text: code },
    };
  const text = sql ?? turn.sql;
  return { ...turn, ending: "waiting", sql: text, waiting: { tool: "execute_sql", text: text ?? "" } };
}

/** Stopped by the person; a run that had not ended is shown as cancelled. */
export function stopped(turn: Turn): Turn {
  if (turn.ending !== null) return turn;
  const underWay = turn.run?.status === "pending" || turn.run?.status === "running";
  const run = turn.run && underWay ? { ...turn.run, status: "cancelled" as const } : turn.run;
  return { ...withoutRunning(turn), run, ending: "stopped" };
}
