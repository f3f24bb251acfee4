import { expect, test } from "vitest";
import { planText, readPlan } from "./plan_text";

const PLAN = {
  group_by: ["category"],
  order_by: [{ dir: "desc", expr: "return_rate" }],
  select: [{ column: "category" }, { metric: "return_rate" }],
  table: "order_items",
  own: {},
};

test("small things stay on one line, fields come in the order of a question", () => {
  expect(planText(PLAN)).toBe(`{
  "table": "order_items",
  "select": [
    {"column": "category"},
    {"metric": "return_rate"}
  ],
  "group_by": ["category"],
  "order_by": [
    {"expr": "return_rate", "dir": "desc"}
  ],
  "own": {}
}`);
});

test.each([
  PLAN,
  {},
  { filters: [{ any: [{ column: "a", op: "in", value: ['é"\\', 1.5, null, true] }, { not: { all: [] } }] }] },
  { define: [{ name: "a", plan: PLAN }], limit: 3, notes: "a very long note ".repeat(20) },
])("it is the same plan: %o", (plan) => expect(readPlan(planText(plan))).toEqual(plan));

test.each(["", "{", "[]", "null", "3"])("no plan: %s", (text) => expect(readPlan(text)).toBeNull());
