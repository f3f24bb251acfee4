import { describe, expect, it } from "vitest";
import { asFilters, chosenIn, withChosen } from "./filters";
import { planLine } from "./plan_line";
import { stepsOf, titleOf, tookMs, wholeMs } from "./run_words";

describe("filters", () => {
  it.each([
    ["", { status: "", dataset: "", text: "" }],
    ["status=failed&dataset=support&q=late", { status: "failed", dataset: "support", text: "late" }],
    ["status=exploded", { status: "", dataset: "", text: "" }],
  ] as const)("reads %s", (address, wanted) => {
    expect(chosenIn(new URLSearchParams(address))).toEqual(wanted);
  });
  it("keeps what else is in the address", () => {
    const after = withChosen(new URLSearchParams("details=run_1&status=failed"), {
      status: "",
      dataset: "x",
      text: " a ",
    });
    expect(after.toString()).toBe("details=run_1&dataset=x&q=a");
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
    ["succeeded", null, 6],
    ["succeeded", "run_0", null],
    ["failed", null, 2000],
  ] as const)("of a run that %s, from %s", (status, cached_from, wanted) => {
    const run = { status, cached_from, exec_time_ms: 6, started_at: at(1), finished_at: at(3) };
    expect(tookMs(run, 0)).toBe(wanted);
  });
  it("names the steps in their order", () => {
    expect(stepsOf({ execute_ms: 3, resolve_ms: 1, write_sql_ms: 2, unheard_of: 9 })).toEqual([
      { title: "Plan to SQL", ms: 3 },
      { title: "Sandbox", ms: 3 },
    ]);
  });
});
