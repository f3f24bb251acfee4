import { expect, test } from "vitest";
import { markOf } from "./run_marks";

const RATE = { metric: "return_rate" };
const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const run = (id: string, more: object = {}) => ({
  run_id: id,
  question: "Which category is returned most?",
  dataset_id: "ecommerce",
  sql: "SELECT 1",
  plan: null,
  origin: null,
  created_at: at(0),
  ...more,
});
const GROUPED = run("a", { plan: { select: [{ column: "category" }, RATE], group_by: ["category"] } });
const OVERALL = { plan: { select: [RATE] }, created_at: at(1) };
const SAMPLE = { question: "Sample rows of orders", sql: 'SELECT "id", "at" FROM "orders" LIMIT 5' };

test.each([
  ["the answer's own run", GROUPED, null],
  ["the value over everything", run("b", OVERALL), "overall value"],
  ["the same, asked later", run("b", { ...OVERALL, created_at: at(5000) }), null],
  ["of another question", run("b", { ...OVERALL, question: "Return rate" }), null],
  ["of another dataset", run("b", { ...OVERALL, dataset_id: "support" }), null],
  ["another amount", run("b", { ...OVERALL, plan: { select: [{ agg: "count" }] } }), null],
  ["the same once more", run("b", { plan: GROUPED.plan }), null],
  ["a table's first rows", run("c", SAMPLE), "sample rows"],
  [
    "a table with a quote in its name",
    run("c", { question: 'Sample rows of a"b', sql: 'SELECT "x" FROM "a""b" LIMIT 5' }),
    "sample rows",
  ],
  ["a question that sounds like it", run("c", { question: "Sample rows of orders" }), null],
  [
    "another query under that name",
    run("c", { ...SAMPLE, sql: 'SELECT "id" FROM "orders" LIMIT 5, 2' }),
    null,
  ],
  ["SQL without a question", run("d", { question: "" }), null],
])("%s", (_, one, expected) => expect(markOf(one, [GROUPED, one])).toBe(expected));
