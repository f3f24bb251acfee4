import { describe, expect, test } from "vitest";
import type { ConversationState, WireMessage } from "~/api/wire";
import streams from "./fixtures/streams.json";
import thread from "./fixtures/thread.json";
import { reduce } from "./reduce";
import { turnsFromState } from "./restore";
import { mainRunId, newTurn, sentenceOf, type Turn } from "./turn";

const state = thread as unknown as ConversationState;
const turns = turnsFromState(state);

test("every question is a turn with its ending", () => {
  expect(turns.map((turn) => [turn.question, turn.ending])).toEqual([
    ["Which category has the highest return rate?", "answered"],
    ["by month", "answered"],
    ["What is the meaning of life?", "asked"],
    ["DROP TABLE orders", "refused"],
  ]);
});

describe("what was streamed is what is restored", () => {
  const kept = (turn: Turn) => {
    // Thoughts are not kept, the gate's text replaces the compiler's, and ids are known only to the thread.
    const { thoughts: _, sql: __, questionId: ___, answerId: ____, ...rest } = turn;
    return rest;
  };
  test("an answer", () => {
    const streamed = streams.answered.reduce<Turn>(reduce, newTurn("by month"));
    expect(turns[1] && kept(turns[1])).toEqual(kept(streamed));
  });
  test("a refusal", () => {
    const streamed = streams.refused.reduce<Turn>(reduce, newTurn("DROP TABLE orders"));
    expect(turns[3] && kept(turns[3])).toEqual(kept(streamed));
    expect(turns[3]?.sql).toBe("DROP TABLE orders");
  });
});

test("the readings that a question back offers are kept as they were told", () => {
  const choices = [
    { label: "Revenue", message: "Read it as “Revenue”", plan: { table: "orders" }, sql: null },
  ];
  const about = { ending: "asked" as const, run_ids: [], suggestions: [], problem: null, choices };
  const messages: WireMessage[] = [
    { id: "q", type: "human", content: "takings" },
    { id: "a", type: "ai", content: "Not sure.", additional_kwargs: { sandtable: about } },
  ];
  const [turn] = turnsFromState({ messages });
  const streamed = reduce(newTurn("takings"), { type: "message", text: "Not sure.", ...about });
  expect([turn?.choices, streamed.choices]).toEqual([choices, choices]);
});

test("a choice that was taken, and the reading in parts, are kept", () => {
  const read = { question: "", parts: [], aside: [], unread: [], joins: [], trust: ["defined"] };
  const plan = { table: "orders" };
  const [question, ...rest] = state.messages;
  const taken = { ...question, additional_kwargs: { sandtable: { plan } } } as WireMessage;
  const ui = (state.ui ?? []).map((one) =>
    one.name === "answer" ? { ...one, props: { ...one.props, read_as: read } } : one,
  );
  const [chosen, typed] = turnsFromState({ ...state, messages: [taken, ...rest], ui });
  expect([chosen?.chosen, chosen?.readAs]).toEqual([plan, read]);
  expect([typed?.chosen, typed?.readAs]).toEqual([null, read]);
  expect(turns[0]?.readAs).toBeNull();
});

test("tags are read from beside a message that has the tables themselves", () => {
  const messages = state.messages.map((message) => {
    const about = message.additional_kwargs?.sandtable;
    if (!about) return message;
    return {
      ...message,
      content: "| a |",
      additional_kwargs: { sandtable: { ...about, text: "[[table-1]]" } },
    };
  });
  expect(turnsFromState({ ...state, messages })[0]?.text).toBe("[[table-1]]");
});

test("ids of the messages are known", () => {
  expect(turns.every((turn) => turn.questionId && turn.answerId)).toBe(true);
});

test("a turn under way has no ending", () => {
  const messages = state.messages.slice(
    0,
    state.messages.findIndex((message) => message.type === "tool"),
  );
  const [turn] = turnsFromState({ ...state, messages });
  expect(turn?.ending).toBeNull();
  expect(turn?.plan).toMatchObject({ table: "order_items" });
  expect(turn?.run?.id).toMatch(/^run_/);
});

test("an answer that was made lighter keeps the run to read the rest from", () => {
  const ui = (state.ui ?? []).map(({ props, ...rest }) => {
    const { rows: _, figure: __, plan: ___, logs: ____, stats: _____, ...light } = props;
    return { ...rest, props: light };
  });
  const [first] = turnsFromState({ ...state, ui });
  expect(first?.table).toBeNull();
  expect(first?.chart).toBeNull();
  expect(first && mainRunId(first)).toMatch(/^run_/);
});

test("a thread that waits for a person says so", () => {
  const waiting = turnsFromState({
    messages: [{ id: "1", type: "human", content: [{ type: "text", text: "How many?" }] }],
    __interrupt__: [{ value: { action_requests: [{ name: "execute_sql", args: { sql: "SELECT 1" } }] } }],
  });
  expect(waiting[0]).toMatchObject({ question: "How many?", ending: "waiting", sql: "SELECT 1" });
});

test.each([
  ["nothing", null],
  ["no messages", { messages: [] }],
  ["only a greeting", { messages: [{ id: "g", type: "ai", content: "Hello" }] }],
])("%s: no turns", (_, given) => {
  expect(turnsFromState(given as ConversationState | null)).toEqual([]);
});

test("the sentence is the answer without its table and its reading", () => {
  expect(sentenceOf(turns[1]?.text ?? "")).toBe(
    "The return rate fell from 13.6 % in January 2024 to a low of 8.0 % in December 2025, with its peak in July 2024 (17.3 %).",
  );
});

test("what code showed is restored, as far as it can be understood", () => {
  const note = { id: "markdown-1", kind: "markdown", title: "", text: "Method" };
  const ui = (state.ui ?? []).map((one) => ({
    ...one,
    props: { ...one.props, artifacts: [note, { id: "x-1", kind: "x" }, 7] },
  }));
  expect(turnsFromState({ ...state, ui })[0]?.artifacts).toEqual([note]);
});
