import { expect, test } from "vitest";
import type { PlanJson } from "~/api/model";
import { readingOf } from "./plan_reading";

const said = (plan: PlanJson) => Object.fromEntries(readingOf(plan).map(({ name, text }) => [name, text]));

test("a question by group", () => {
  expect(
    said({
      table: "order_items",
      select: [{ column: "category" }, { metric: "return_rate" }, { agg: "avg", column: "discount_rate" }],
      group_by: ["category"],
      filters: [
        { column: "orders.region", op: "in", value: ["Europe", "Asia"] },
        { column: "quantity", op: ">", value: 2 },
      ],
      time: { last: 3, unit: "month" },
      order_by: [{ expr: "return_rate", dir: "desc" }],
      limit: 1,
    }),
  ).toEqual({
    Shows: "return rate, average of discount rate",
    By: "category",
    From: "order items",
    Where: "orders.region is one of Europe, Asia, and quantity > 2",
    When: "the last 3 months",
    Order: "return rate, highest first",
    "At most": "1 row",
  });
});

test.each<[PlanJson, Record<string, string>]>([
  [
    { table: "t", select: [{ column: "a" }, { column: "b" }] },
    { Shows: "a, b", From: "t" },
  ],
  [
    { table: "t", select: ["a", { agg: "count" }] },
    { Shows: "number of rows", By: "a", From: "t" },
  ],
  [
    {
      table: "t",
      select: [
        { bucket: "month", column: "d" },
        { op: "/", left: { agg: "sum", column: "x" }, right: { value: 2 } },
      ],
    },
    { Shows: "total of x / 2", By: "month of d", From: "t" },
  ],
  [
    {
      table: "t",
      filters: [
        { any: [{ column: "a", op: "is_null" }, { not: { column: "b", op: "between", value: [1, 2] } }] },
      ],
    },
    { From: "t", Where: "(a is empty or not b between 1 and 2)" },
  ],
  [
    { time: { from: "2024-01-01" }, derive: [{ as: "s", share_of_total: "revenue" }] },
    { When: "from 2024-01-01", Also: "share of the total revenue" },
  ],
  [
    { select: 3, filters: "nonsense", order_by: [null], time: 1 } as unknown as PlanJson,
    { Order: ", lowest first" },
  ],
])("%o", (plan, expected) => expect(said(plan)).toEqual(expected));
