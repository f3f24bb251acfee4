import { describe, expect, test } from "vitest";
import streams from "./fixtures/streams.json";
import { reduce, reduceError, stopped } from "./reduce";
import { newTurn, type Turn } from "./turn";

const told = (events: readonly unknown[], turn: Turn = newTurn("Why?")) => events.reduce<Turn>(reduce, turn);
const READ = { question: "", parts: [], aside: [], unread: [], joins: [], trust: [] };
const running = { type: "run", run_id: "run_1", status: "running" };
const table = { type: "table", run_id: "run_1", columns: [], rows: [], row_count: 0, truncated: false };

describe("recorded streams", () => {
  test("an answer", () => {
    const turn = told(streams.answered, newTurn("by month"));
    expect(turn.ending).toBe("answered");
    expect(turn.thoughts).toEqual(["Reading the question…", "Planning…", "Checking…", "Running…"]);
    expect(turn.reading).toBe("return rate, by month, earliest month first");
    expect(turn.sql).toMatch(/^SELECT/);
    expect(turn.run?.status).toBe("succeeded");
    expect(turn.run?.execTimeMs).toBeGreaterThan(0);
    expect(turn.table?.rows).toHaveLength(24);
    expect(turn.chart?.figure.data).toHaveLength(1);
    expect(turn.runIds).toEqual([turn.run?.id]);
    expect(turn.suggestions).toEqual(["Same by category", "Same by return reason"]);
    expect(turn.problem).toBeNull();
  });

  test("a refusal", () => {
    const turn = told(streams.refused);
    expect(turn.ending).toBe("refused");
    expect(turn.run?.status).toBe("rejected");
    expect(turn.problem?.details).toMatchObject({ construct: "DROP", position: 0, length: 4 });
    expect(turn.table).toBeNull();
  });

  test("the pieces put together are the message", () => {
    const pieces = streams.answered.filter((event) => event.type === "delta");
    const whole = streams.answered.find((event) => event.type === "message");
    expect(pieces.length).toBeGreaterThan(1);
    expect(told(pieces).text).toBe(whole?.text);
  });
});

test("a plan comes with its reading in parts; a repaired plan replaces it", () => {
  const first = reduce(newTurn("Why?"), { type: "plan", plan: {}, reading: "a", read_as: READ });
  expect(first.readAs).toBe(READ);
  expect(reduce(first, { type: "plan", plan: {}, reading: "b" }).readAs).toBeNull();
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["text", "run"],
  ["another type", { type: "weather", text: "rain" }],
  ["generative UI", { type: "ui", id: "x", name: "progress", props: {} }],
  ["a number for a type", { type: 7 }],
])("%s leaves the turn as it is", (_, event) => {
  const turn = newTurn("Why?");
  expect(reduce(turn, event)).toBe(turn);
});

test("nothing that was given is changed", () => {
  const turn = Object.freeze({ ...newTurn("Why?"), thoughts: Object.freeze(["a"]) as string[] });
  expect(reduce(turn, { type: "thought", text: "b" }).thoughts).toEqual(["a", "b"]);
  expect(turn.thoughts).toEqual(["a"]);
});

test("another run replaces what the one before had shown", () => {
  const first = told([running, table, { ...running, status: "failed" }]);
  expect(first.table).not.toBeNull();
  const second = reduce(first, { type: "run", run_id: "run_2", status: "pending" });
  expect(second.run).toEqual({ id: "run_2", status: "pending", execTimeMs: null });
  expect(second.table).toBeNull();
});

test("an error ends the turn", () => {
  const turn = told([
    running,
    { type: "error", problem: { code: "SANDBOX_UNAVAILABLE", message: "no sandbox" } },
  ]);
  expect(turn.ending).toBe("failed");
  expect(turn.problem?.message).toBe("no sandbox");
});

describe("the stream's own error", () => {
  test("stopping cancels the run", () => {
    const turn = reduceError(told([running]), { error: "UserInterrupt", message: "cancelled" });
    expect(turn.ending).toBe("stopped");
    expect(turn.run?.status).toBe("cancelled");
    expect(turn.problem).toBeNull();
  });

  test("a server that died is said", () => {
    const turn = reduceError(told([running]), { error: "ServerStopped", message: "the server stopped" });
    expect(turn.ending).toBe("failed");
    expect(turn.problem?.suggestion).toContain("Ask again");
  });

  test("a turn that has ended stays as it ended", () => {
    const turn = told(streams.answered);
    expect(reduceError(turn, { error: "UserInterrupt", message: "" })).toBe(turn);
    expect(stopped(turn)).toBe(turn);
  });
});

test("answers to several questions of one message are kept, in order", () => {
  const first = { type: "message", text: "42.", ending: "answered", run_ids: ["run_1"], remaining: 1 };
  const second = { type: "message", text: "Europe.", ending: "answered", run_ids: ["run_2"] };
  const again = { ...running, run_id: "run_2" };
  const between = told([running, table, first]);
  expect([between.ending, between.text, between.table]).toEqual([null, "", null]);
  const turn = told([again, second], between);
  expect([turn.ending, turn.text, turn.runIds]).toEqual(["answered", "Europe.", ["run_2"]]);
  expect(turn.earlier.map((one) => [one.text, one.runIds, one.table?.runId])).toEqual([
    ["42.", ["run_1"], "run_1"],
  ]);
});
