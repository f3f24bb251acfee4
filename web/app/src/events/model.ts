// What happens while a question is answered: the union of agent/events.py, event for event.
import type { Choice, Figure, PlanJson, ReadAs, ResultColumn, Row, RunStatus } from "~/api/model";
import type { ProblemBody } from "~/api/problem";
import type { Artifact } from "./artifact";

export type Ending = "answered" | "asked" | "conversed" | "refused" | "failed" | "waiting";

export type SandtableEvent =
  | { type: "thought"; text: string }
  | { type: "plan"; plan: PlanJson; reading: string; read_as?: ReadAs | null }
  | { type: "sql"; sql: string }
  | { type: "run"; run_id: string; status: RunStatus; exec_time_ms?: number | null }
  | { type: "log"; run_id?: string | null; text: string }
  | {
      type: "table";
      run_id: string;
      columns: ResultColumn[];
      rows: Row[];
      row_count: number;
      truncated: boolean;
    }
  | { type: "chart"; run_id: string; figure: Figure }
  | { type: "code"; run_id?: string | null; step?: number | null; goal?: string; code: string }
  | { type: "artifact"; run_id: string; artifact: Artifact }
  | { type: "delta"; text: string }
  | {
      type: "message";
      text: string;
      ending: Ending;
      run_ids?: string[];
      suggestions?: string[];
      /** Of a question back: the readings that were weighed. */
      choices?: Choice[];
      problem?: ProblemBody | null;
      /** Questions of the same message that are answered next. */
      remaining?: number;
    }
  | { type: "error"; problem: ProblemBody };

const TYPES: ReadonlySet<string> = new Set<SandtableEvent["type"]>([
  "thought",
  "plan",
  "sql",
  "run",
  "log",
  "table",
  "chart",
  "code",
  "artifact",
  "delta",
  "message",
  "error",
]);

/** Whether a `custom` event of the stream is one of ours; generative UI comes the same way. */
export function isSandtableEvent(value: unknown): value is SandtableEvent {
  if (typeof value !== "object" || value === null) return false;
  const type = (value as { type?: unknown }).type;
  return typeof type === "string" && TYPES.has(type);
}
