// What the LangGraph wire adds to our events: the thread's state, and events about the stream itself.
import type { Ending, Figure, MessageEvent, PlanJson, ReadAs, ResultColumn, Row, RunStatus } from "./model";
import type { ProblemBody } from "./problem";

/** `additional_kwargs.sandtable` of the message that ends a turn. */
export interface About {
  /** The text with tags for artifacts, where `content` has the artifacts themselves as Markdown. */
  text?: string;
  ending: Ending;
  run_ids: string[];
  suggestions: string[];
  problem: ProblemBody | null;
  /** Threads of earlier versions were kept without these. */
  choices?: MessageEvent["choices"];
  remaining?: MessageEvent["remaining"];
}

/** `additional_kwargs.sandtable` of a person's message that takes a choice. */
export interface Chosen {
  plan: PlanJson;
}

export interface WireToolCall {
  id: string;
  name: string;
  args: { dataset_id?: string; plan?: PlanJson; sql?: string; code?: string; [name: string]: unknown };
}

export interface WireMessage {
  id?: string | null;
  type: "human" | "ai" | "tool" | (string & {});
  content: string | { type: string; text?: string }[];
  additional_kwargs?: { sandtable?: About | Chosen; [name: string]: unknown };
  tool_calls?: WireToolCall[];
  tool_call_id?: string;
  status?: string;
}

export interface ProgressProps {
  stage: string;
  run_id: string | null;
  status: RunStatus | null;
}

/** Older answers of a long thread keep only the light part; the rest is read from the run. */
export interface AnswerProps {
  run_id: string;
  reading: string;
  sql: string | null;
  columns: ResultColumn[];
  row_count: number | null;
  truncated: boolean;
  suggestions: string[];
  plan?: PlanJson | null;
  read_as?: ReadAs | null;
  rows?: Row[];
  logs?: string[];
  stats?: Record<string, number | null>;
  figure?: Figure | null;
  /** What code showed; looked through before it is believed. */
  artifacts?: unknown;
  /** Of an analysis: its cells, in the order in which they ran. */
  steps?: CellProps[];
}

export interface CellProps {
  step: number;
  goal: string;
  code: string;
  run_id: string;
  status: RunStatus;
  stdout: string;
  /** Threads of earlier versions were kept without these. */
  thought?: string;
  diagnosis?: string;
}

export interface WireUi {
  type: "ui";
  id: string;
  name: string;
  props: Record<string, unknown>;
  metadata?: { message_id?: string | null };
}

/** What a thread waits for when SQL or code must be approved by a person. */
export interface WireInterrupt {
  id?: string;
  value?: { action_requests?: WireAction[] };
}

export interface WireAction {
  name: string;
  args: { sql?: string; code?: string };
  /** What it is for, and the text once more as Markdown. */
  description?: string;
}

/** `values` of a thread. */
export interface ConversationState {
  messages: WireMessage[];
  ui?: WireUi[];
  dataset_id?: string;
  __interrupt__?: WireInterrupt[];
  [name: string]: unknown;
}

/** `error` of the stream: always the last event. */
export interface WireError {
  error: string;
  message: string;
}

/** The plan of the choice that a person's message takes. */
export function chosenIn(message: WireMessage): PlanJson | null {
  const ours = message.additional_kwargs?.sandtable;
  return ours && "plan" in ours ? ours.plan : null;
}

export function textOf(content: WireMessage["content"]): string {
  if (typeof content === "string") return content;
  return content.map((block) => block.text ?? "").join("");
}
