import { describe, expect, it } from "vitest";
import { earlierRun } from "~/api/model";
import { asFilters, chosenIn, NOTHING_CHOSEN, withChosen } from "./filters";
import { planLine } from "./plan_line";
import { stepsOf, titleOf, tookMs, wholeMs } from "./run_words";

describe("filters", () => {
  it.each([
    ["", NOTHING_CHOSEN],
    [
      "status=failed&dataset=support&q=late",
      { ...NOTHING_CHOSEN, status: "failed", dataset: "support", text: "late" },
    ],
    ["samples=1", { ...NOTHING_CHOSEN, samples: true }],
    ["status=exploded", NOTHING_CHOSEN],
  ] as const)("reads %s", (address, wanted) => {
    expect(chosenIn(new URLSearchParams(address))).toEqual(wanted);
  });
  it("keeps what else is in the address", () => {
    const after = withChosen(new URLSearchParams("details=run_1&status=failed"), {
      status: "",
      dataset: "x",
      text: " a ",
      samples: true,
    });
    expect(after.toString()).toBe("details=run_1&dataset=x&q=a&samples=1");
  });
  it("asks the server for what was chosen only", () => {
    expect(asFilters({ status: "", dataset: "", text: " " }, 50)).toEqual({ limit: 50 });
    expect(asFilters({ status: "failed", dataset: "d", text: "t" }, 5)).toEqual({
      status: "failed",
      dataset_id: "d",
      text: "t",
      limit: 5,
    });
  });
});

describe("planLine", () => {
  it.each([
    [{ table: "t", select: [{ column: "a" }, { metric: "m" }], group_by: ["a"] }, "m by a from t"],
    [{ table: "t", select: [{ agg: "sum", column: "x" }, { agg: "count" }] }, "sum of x, count from t"],
    [{ table: "t", select: [{ bucket: "month", as: "mo" }], group_by: ["mo"] }, "rows by mo from t"],
    [{ table: "t" }, "rows from t"],
    [{}, "rows"],
  ])("%#", (plan, wanted) => {
    expect(planLine(plan)).toBe(wanted);
  });
});

describe("titleOf", () => {
  it.each([
    [
      { question: "How\nmany?", plan: {}, sql: "SELECT 1" },
      { text: "How many?", code: false },
    ],
    [
      { question: "", plan: { table: "t" }, sql: "SELECT 1" },
      { text: "rows from t", code: true },
    ],
    [
      { question: "", plan: null, sql: "SELECT\n  1" },
      { text: "SELECT 1", code: true },
    ],
    [
      { question: "SELECT 1 ", plan: null, sql: "SELECT\n  1" },
      { text: "SELECT 1", code: true },
    ],
    [
      { question: "SELECT a FROM oders", plan: null, sql: "SELECT a FROM orders" },
      { text: "SELECT a FROM orders", code: true },
    ],
    [
      { question: "Select the best products", plan: { table: "t" }, sql: "SELECT 1" },
      { text: "Select the best products", code: false },
    ],
    [
      { question: "With which channel?", plan: null, sql: "SELECT 1" },
      { text: "With which channel?", code: false },
    ],
    [
      { question: "", plan: null, sql: null },
      { text: "Nothing was asked", code: false },
    ],
  ])("%#", (run, wanted) => {
    expect(titleOf(run)).toEqual(wanted);
  });
});

describe("times", () => {
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
  it.each([
    [null, null, null],
    [at(1), at(3), 2000],
    [at(1), null, 4000],
  ])("from %s to %s", (started_at, finished_at, wanted) => {
    expect(wholeMs({ started_at, finished_at }, Date.parse(at(5)))).toBe(wanted);
  });
  it.each([
    ["succeeded", null, 6, 6],
    ["succeeded", "run_0", 0, null],
    ["failed", null, 6, 2000],
    // A query that was stopped never said how long it took.
    ["failed", null, 0, 2000],
  ] as const)("of a run that %s, from %s, in %s ms", (status, cached_from, exec_time_ms, wanted) => {
    const run = { status, cached_from, exec_time_ms, started_at: at(1), finished_at: at(3) };
    expect(tookMs(run, 0)).toBe(wanted);
  });
  it.each([
    ["run_0", "run_0"],
    ["hidden", null],
    [null, null],
  ])("opens the run that answered: %s", (cached_from, opened) => {
    expect(earlierRun({ cached_from })).toBe(opened);
  });
  it("names the steps in their order", () => {
    expect(stepsOf({ execute_ms: 3, resolve_ms: 1, write_sql_ms: 2, unheard_of: 9 })).toEqual([
      { title: "Plan to SQL", ms: 3 },
      { title: "Sandbox", ms: 3 },
    ]);
  });
});
