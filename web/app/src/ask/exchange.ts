// What this page has heard itself, laid over what the thread keeps: the answer under way, and answers that
// the thread does not keep because they were stopped or broke off.

import { attemptCount } from "~/events/steps";
import type { Turn } from "~/events/turn";
import { type Answer, answerId, type Question, type Tree } from "./tree";

export interface Exchange {
  questionId: string;
  /** The answer before the question. */
  parent: string | null;
  /** The run of the thread that answers it; null until the server has begun it. */
  threadRunId: string | null;
  /** The id of the last part of its stream that was heard: the rest can be asked for. */
  heard: string;
  turn: Turn;
}

export const exchangeId = (exchange: Exchange): string => answerId(exchange.questionId, exchange.threadRunId);

export function withExchanges(tree: Tree, exchanges: readonly Exchange[]): Tree {
  const questions = new Map(tree.questions.map((one) => [one.id, one]));
  const answers = new Map(withoutReplaced(tree.answers, exchanges).map((one) => [one.id, one]));
  for (const exchange of exchanges) {
    const { questionId, parent, turn } = exchange;
    if (!questions.has(questionId)) {
      const { question: text, chosen } = turn;
      questions.set(questionId, { id: questionId, text, chosen, parent, before: null, at: null });
    }
    const id = exchangeId(exchange);
    const kept = answers.get(id);
    const told = kept && keepsMore(kept.turn, turn) ? kept.turn : turn;
    answers.set(id, { id, question: questionId, turn: told, at: kept?.at ?? null });
  }
  return { questions: [...questions.values()], answers: [...answers.values()], head: tree.head };
}

/** What was heard stays, so that nothing on screen is drawn again, unless the thread knows how it ended. */
function keepsMore(kept: Turn, heard: Turn): boolean {
  const ended = kept.ending !== null && kept.ending !== "stopped";
  // Who came in the middle of an analysis has not heard how it began.
  return ended && (kept.ending !== heard.ending || attemptCount(kept) > attemptCount(heard));
}

/** An unfinished answer of the thread gives way to what was heard of the same question. */
function withoutReplaced(answers: readonly Answer[], exchanges: readonly Exchange[]): Answer[] {
  const heard = new Set(exchanges.map(exchangeId));
  const asked = new Set(exchanges.map((one) => one.questionId));
  const open = (turn: Turn) => turn.ending === null || turn.ending === "waiting";
  return answers.filter((one) => heard.has(one.id) || !asked.has(one.question) || !open(one.turn));
}

export interface Step {
  question: Question;
  answer: Answer | null;
}

/** From the first question to the answer `head`, or to the newest where it is not known any more. */
export function pathTo(tree: Tree, head: string | null): Step[] {
  const answers = new Map(tree.answers.map((one) => [one.id, one]));
  const questions = new Map(tree.questions.map((one) => [one.id, one]));
  const path: Step[] = [];
  let answer = answers.get(head ?? "") ?? answers.get(tree.head ?? "");
  while (answer) {
    const question = questions.get(answer.question);
    if (!question) break;
    path.unshift({ question, answer });
    answer = answers.get(question.parent ?? "");
  }
  return path;
}
