// What a conversation on screen is made of.
import { Problem } from "~/api/problem";
import { stopped } from "~/events/reduce";
import type { Turn } from "~/events/turn";
import type { Exchange } from "./exchange";
import { NO_TREE, type Tree } from "./tree";

export interface Live {
  threadRunId: string | null;
  /** When it began, by this machine's clock. */
  since: number;
  stopping: boolean;
  /** The connection broke off and is being made again. */
  lost: boolean;
}

export interface SessionState {
  threadId: string | null;
  datasetId: string | null;
  opening: boolean;
  /** Why the thread cannot be shown. */
  problem: Problem | null;
  /** Something that was tried and did not work, while the thread itself is fine. */
  notice: Problem | null;
  kept: Tree;
  exchanges: readonly Exchange[];
  /** `kept` and `exchanges` together. */
  tree: Tree;
  /** The answer at the end of the branch that is shown. */
  head: string | null;
  /** The answer under way. */
  live: Live | null;
}

export const NOTHING: SessionState = {
  threadId: null,
  datasetId: null,
  opening: false,
  problem: null,
  notice: null,
  kept: NO_TREE,
  exchanges: [],
  tree: NO_TREE,
  head: null,
  live: null,
};

/** What a person can say to SQL or code that waits for approval. */
export type Decision =
  | { type: "approve" }
  | { type: "reject"; message?: string }
  | { type: "edit"; edited_action: EditedAction };

export type EditedAction =
  | { name: "execute_sql"; args: { sql: string } }
  | { name: "execute_python"; args: { code: string } };

/** A stream that is over ends its turn: as it was told, or as far as one can tell. */
export function ended(turn: Turn, broken: Problem | null, live: Live | null): Turn {
  if (turn.ending !== null) return turn;
  if (live?.stopping) return stopped(turn);
  const problem = broken ?? new Problem(BROKE_OFF);
  const { code, message, suggestion, details } = problem;
  return { ...turn, ending: "failed", problem: { code, message, suggestion, details } };
}

const BROKE_OFF = {
  code: "NETWORK",
  message: "The answer broke off.",
  suggestion: "Try again: the conversation goes on from here.",
};
