// One part of a stream, told to the exchange it belongs to. Pure.

import { type ConversationState, chosenIn, textOf, type WireError } from "~/api/wire";
import { reduce, reduceError, reduceInterrupt } from "~/events/reduce";
import { turnsFromState } from "~/events/restore";
import { newTurn } from "~/events/turn";
import type { Exchange } from "./exchange";
import { lastHuman } from "./tree";
import type { StreamPart } from "./wire";

export function hear(before: Exchange, part: StreamPart): Exchange {
  const exchange = part.id ? { ...before, heard: part.id } : before;
  switch (part.event) {
    case "metadata": {
      const { run_id } = part.data as { run_id?: unknown };
      return typeof run_id === "string" ? { ...exchange, threadRunId: run_id } : exchange;
    }
    case "custom":
      return withTurn(exchange, reduce(exchange.turn, part.data));
    case "values":
      return withTurn(
        exchange,
        reduceInterrupt(exchange.turn, (part.data as ConversationState).__interrupt__),
      );
    case "error":
      return withTurn(exchange, reduceError(exchange.turn, part.data as WireError));
    default:
      return exchange;
  }
}

/** The exchange that a stream is about, from the first state it tells: for those who join it later. */
export function exchangeOf(part: StreamPart, threadRunId: string, known: ParentOf): Exchange | null {
  if (part.event !== "values") return null;
  const values = part.data as ConversationState;
  const question = lastHuman({ values });
  if (!question?.id) return null;
  // Steps that ran before a person was asked are in the state, and not in this stream.
  const steps = turnsFromState(values).at(-1)?.steps ?? [];
  const turn = { ...newTurn(textOf(question.content), question.id, chosenIn(question)), steps };
  return { questionId: question.id, parent: known(question.id), threadRunId, heard: part.id ?? "", turn };
}

/** The answer before a question, as the thread has it. */
export type ParentOf = (questionId: string) => string | null;

const withTurn = (exchange: Exchange, turn: Exchange["turn"]): Exchange =>
  turn === exchange.turn ? exchange : { ...exchange, turn };
