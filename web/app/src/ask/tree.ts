// A thread as a tree: questions with their answers, and what they were edited to or answered again with.
// Questions and answers alternate, so each branch is a path that can be read from top to bottom.
import type { PlanJson } from "~/api/model";
import type { KeptState } from "~/api/threads";
import type { WireMessage } from "~/api/wire";
import { stopped } from "~/events/reduce";
import { turnsFromState } from "~/events/restore";
import type { Turn } from "~/events/turn";

export interface Question {
  /** The id of the person's message. */
  id: string;
  text: string;
  /** The plan of the choice that it takes. */
  chosen: PlanJson | null;
  /** The answer before it; nothing for the first question. */
  parent: string | null;
  /** The checkpoint before it, where an edited question branches off; null while it is not known. */
  before: string | null;
  /** Its own checkpoint, from which it is answered again. */
  at: string | null;
}

export interface Answer {
  id: string;
  question: string;
  turn: Turn;
  /** The checkpoint after it, from which the conversation goes on. */
  at: string | null;
}

export interface Tree {
  /** Oldest first. */
  questions: Question[];
  answers: Answer[];
  /** The newest answer. */
  head: string | null;
}

export const NO_TREE: Tree = { questions: [], answers: [], head: null };

/** Known while an answer is streamed and afterwards from its checkpoint: what is on screen keeps its place. */
export const answerId = (questionId: string, threadRunId: string | null): string =>
  `${threadRunId ?? "new"}:${questionId}`;

/** `history`: newest first. Only ends of branches say what was said, and every state is on the way to one. */
export function treeFromHistory(history: readonly KeptState[]): Tree {
  const states = new Map(history.map((state) => [idOf(state), state]));
  const parents = new Set(history.map((state) => state.parent_checkpoint?.checkpoint_id ?? ""));
  const questions = new Map<string, Question>();
  const answers = new Map<string, Answer>();
  let head: string | null = null;
  for (const end of [...history].reverse()) {
    if (parents.has(idOf(end))) continue;
    head = addBranch(end, states, questions, answers) ?? head;
  }
  return { questions: [...questions.values()], answers: [...answers.values()], head };
}

function addBranch(
  end: KeptState,
  states: ReadonlyMap<string, KeptState>,
  questions: Map<string, Question>,
  answers: Map<string, Answer>,
): string | null {
  const turns = turnsFromState(end.values && { ...end.values, __interrupt__: end.interrupts ?? [] });
  const path = pathOf(end, states);
  let parent: string | null = null;
  for (const turn of turns) {
    const own = path.filter((state) => lastHuman(state)?.id === turn.questionId);
    const first = own[0];
    const last = own.at(-1);
    if (!first || !last || !turn.questionId) continue;
    if (!questions.has(turn.questionId)) {
      questions.set(turn.questionId, {
        id: turn.questionId,
        text: turn.question,
        chosen: turn.chosen,
        parent,
        before: first.parent_checkpoint?.checkpoint_id ?? null,
        at: idOf(first),
      });
    }
    const id = answerId(turn.questionId, last.metadata?.run_id ?? null);
    // A question that another one follows will not be answered any more.
    const told = turn === turns.at(-1) ? turn : stopped(turn);
    const known = answers.get(id);
    // Older answers of a long branch are lighter: the fuller one is kept.
    if (!known || (known.turn.table === null && told.table !== null)) {
      answers.set(id, { id, question: turn.questionId, turn: told, at: idOf(last) });
    }
    parent = id;
  }
  return parent;
}

function pathOf(end: KeptState, states: ReadonlyMap<string, KeptState>): KeptState[] {
  const path: KeptState[] = [];
  for (let at: KeptState | undefined = end; at; at = states.get(at.parent_checkpoint?.checkpoint_id ?? "")) {
    path.unshift(at);
  }
  return path;
}

export function lastHuman(state: Pick<KeptState, "values">): WireMessage | undefined {
  return state.values?.messages?.findLast((message) => message.type === "human");
}

const idOf = (state: KeptState): string => state.checkpoint?.checkpoint_id ?? "";
