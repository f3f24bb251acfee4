import { describe, expect, test } from "vitest";
import type { KeptState } from "~/api/threads";
import { newTurn, type Turn } from "~/events/turn";
import { type Exchange, exchangeId, pathTo, withExchanges } from "./exchange";
import history from "./fixtures/history.json";
import { itemsOf, Messages } from "./messages";
import { answerId, type Tree, treeFromHistory } from "./tree";

// Recorded: q1 was answered, q2 asked after it and edited to q2b, and q2b was answered again.
const recorded = history as unknown as KeptState[];
const tree = treeFromHistory(recorded);
const shown = (of: Tree, head: string | null) =>
  pathTo(of, head).map((step) => [step.question.id, step.answer?.id]);

describe("a recorded thread with branches", () => {
  test("questions know what they follow and where they branch off", () => {
    expect(tree.questions).toEqual([
      { id: "q1", text: "Return rate by category", chosen: null, parent: null, before: "c1", at: "c2" },
      { id: "q2", text: "by month", chosen: null, parent: "r1:q1", before: "c3", at: "c4" },
      { id: "q2b", text: "by country", chosen: null, parent: "r1:q1", before: "c3", at: "c6" },
    ]);
  });
  test("a question answered again has two answers", () => {
    expect(tree.answers.map((one) => [one.id, one.at])).toEqual([
      ["r1:q1", "c3"],
      ["r2:q2", "c5"],
      ["r3:q2b", "c7"],
      ["r4:q2b", "c8"],
    ]);
    expect(tree.answers.every((one) => one.turn.ending === "answered")).toBe(true);
  });
  test("the newest branch is shown, and any other can be", () => {
    expect(tree.head).toBe("r4:q2b");
    expect(shown(tree, tree.head)).toEqual([
      ["q1", "r1:q1"],
      ["q2b", "r4:q2b"],
    ]);
    expect(shown(tree, "r2:q2")).toEqual([
      ["q1", "r1:q1"],
      ["q2", "r2:q2"],
    ]);
    expect(shown(tree, "gone")).toEqual(shown(tree, tree.head));
  });
});

test.each([
  ["no states", []],
  ["an empty thread", recorded.slice(-1)],
])("%s: nothing to show", (_, given) => {
  expect(treeFromHistory(given)).toEqual({ questions: [], answers: [], head: null });
});

describe("questions without an answer", () => {
  const state = (id: string, parent: string | null, run: string, humans: string[]): KeptState => ({
    values: { messages: humans.map((one) => ({ id: one, type: "human", content: one })) },
    checkpoint: { checkpoint_id: id },
    parent_checkpoint: parent ? { checkpoint_id: parent } : null,
    metadata: { run_id: run },
  });
  test("the last one is open, one that another follows was stopped", () => {
    const open = treeFromHistory([state("c2", "c1", "r2", ["a", "b"]), state("c1", null, "r1", ["a"])]);
    expect(open.answers.map((one) => [one.id, one.turn.ending])).toEqual([
      ["r1:a", "stopped"],
      ["r2:b", null],
    ]);
    expect(open.questions[1]).toMatchObject({ parent: "r1:a", before: "c1", at: "c2" });
  });
  test("one that waits for approval says so", () => {
    const waits = { ...state("c1", null, "r1", ["a"]), interrupts: [interrupt] };
    expect(treeFromHistory([waits]).answers[0]?.turn).toMatchObject({ ending: "waiting", sql: "SELECT 1" });
  });
  const interrupt = { value: { action_requests: [{ name: "execute_sql", args: { sql: "SELECT 1" } }] } };
});

describe("what was heard lies over what is kept", () => {
  const heard = (questionId: string, run: string | null, turn: Partial<Turn>): Exchange => ({
    questionId,
    parent: "r1:q1",
    threadRunId: run,
    heard: "",
    turn: { ...newTurn("by week", questionId), ...turn },
  });
  const turnOf = (of: Tree, id: string) => of.answers.find((one) => one.id === id)?.turn;

  test("a new question follows the answer it was asked after", () => {
    const exchange = heard("q3", null, {});
    const both = withExchanges(tree, [{ ...exchange, parent: "r4:q2b" }]);
    expect(shown(both, exchangeId(exchange)).map(([id]) => id)).toEqual(["q1", "q2b", "q3"]);
  });
  test("another answer stands beside the kept ones", () => {
    const both = withExchanges(tree, [heard("q2b", "r9", { text: "so far" })]);
    expect(both.answers.filter((one) => one.question === "q2b").map((one) => one.id)).toEqual([
      "r3:q2b",
      "r4:q2b",
      "r9:q2b",
    ]);
  });
  test("the same ending is not drawn again", () => {
    const turn = { ending: "answered", text: "as it was heard" } as const;
    expect(turnOf(withExchanges(tree, [heard("q2", "r2", turn)]), "r2:q2")?.text).toBe("as it was heard");
  });
  test("what the thread kept wins over a lost connection", () => {
    const lost = { ending: "failed", problem: { code: "NETWORK", message: "" } } as const;
    expect(turnOf(withExchanges(tree, [heard("q2", "r2", lost)]), "r2:q2")?.ending).toBe("answered");
  });
  test("a question that waited gives way to its own continuation", () => {
    const waiting: Tree = {
      questions: [{ id: "a", text: "a", chosen: null, parent: null, before: null, at: "c1" }],
      answers: [{ id: "r1:a", question: "a", at: "c1", turn: { ...newTurn("a"), ending: "waiting" } }],
      head: "r1:a",
    };
    const both = withExchanges(waiting, [heard("a", "r2", {})]);
    expect(both.answers.map((one) => one.id)).toEqual([answerId("a", "r2")]);
  });
});

describe("as messages", () => {
  test("parents come before children", () => {
    const seen = new Set<string | null>([null]);
    for (const { parentId, of } of itemsOf(tree)) {
      expect(seen.has(parentId)).toBe(true);
      seen.add(of.id);
    }
    expect(seen.size).toBe(1 + tree.questions.length + tree.answers.length);
  });
  test("an unknown parent loses nothing", () => {
    const [first] = tree.questions;
    if (!first) throw new Error("no question");
    expect(itemsOf({ questions: [{ ...first, parent: "gone" }], answers: [], head: null })).toHaveLength(1);
  });
  test("only what changed is another message", () => {
    const messages = new Messages();
    const before = messages.repository(tree, tree.head);
    const changed = {
      ...tree,
      answers: tree.answers.map((one) => (one.id === "r4:q2b" ? { ...one, turn: { ...one.turn } } : one)),
    };
    const after = messages.repository(changed, tree.head);
    const same = before.messages.filter((one, at) => one.message === after.messages[at]?.message);
    expect(same).toHaveLength(before.messages.length - 1);
    expect(after.headId).toBe("r4:q2b");
  });
});
