import { describe, expect, it } from "vitest";
import type { Column, ColumnProfile, Metric } from "~/api/model";
import { distributionOf, meanOf } from "./distribution";
import { erDiagram } from "./er_diagram";
import { metricWords } from "./metric_words";
import { findIn } from "./search";

const profile = (part: Partial<ColumnProfile>): ColumnProfile => ({
  name: "c",
  nulls: 0,
  distinct: 0,
  complete: false,
  values: [],
  histogram: [],
  ...part,
});

const text = { name: "c", kind: "text" as const };
const integer = { name: "c", kind: "integer" as const };
const double = { name: "c", kind: "float" as const };
const day = { name: "c", kind: "date" as const };

describe("distributionOf", () => {
  it.each([
    ["only empty cells", text, profile({ nulls: 10 }), 10, { kind: "empty" }],
    ["text, each value once", text, profile({ distinct: 10, complete: true }), 10, { kind: "unique" }],
    ["integers, each once", integer, profile({ distinct: 10 }), 10, { kind: "unique" }],
    [
      "moments of which only some are kept",
      { name: "c", kind: "timestamp" as const },
      profile({ distinct: 9 }),
      9,
      { kind: "unknown" },
    ],
    [
      "the most frequent values and the rest",
      text,
      profile({
        distinct: 9,
        nulls: 1,
        values: [
          { value: "a", count: 6 },
          { value: "b", count: 3 },
        ],
      }),
      13,
      {
        kind: "values",
        bars: [
          { id: "0", label: "a", count: 6, height: 1 },
          { id: "1", label: "b", count: 3, height: 0.5 },
        ],
        others: 3,
        otherValues: 7,
      },
    ],
    [
      "few different numbers, in their order",
      integer,
      profile({
        distinct: 2,
        complete: true,
        values: [
          { value: 5, count: 2 },
          { value: 1, count: 1 },
        ],
      }),
      3,
      {
        kind: "scale",
        bars: [
          { id: "0", label: "1", count: 1, height: 0.5 },
          { id: "1", label: "5", count: 2, height: 1 },
        ],
      },
    ],
    [
      "many numbers by their histogram",
      double,
      profile({
        distinct: 40,
        histogram: [
          { low: 0, high: 1, count: 30 },
          { low: 1, high: 2, count: 15 },
        ],
      }),
      45,
      {
        kind: "scale",
        bars: [
          { id: "0", label: "0 to 1", count: 30, height: 1 },
          { id: "1", label: "1 to 2", count: 15, height: 0.5 },
        ],
      },
    ],
  ])("%s", (_, column, given, rows, wanted) => {
    expect(distributionOf(column, given, rows)).toEqual(wanted);
  });

  it("counts days in equal periods, and loses none", () => {
    const values = Array.from({ length: 100 }, (_, n) => ({
      value: new Date(Date.UTC(2025, 0, 1 + n)).toISOString().slice(0, 10),
      count: n % 3,
    }));
    const drawn = distributionOf(day, profile({ distinct: 100, complete: true, values }), 99);
    if (drawn.kind !== "scale") throw new Error(drawn.kind);
    expect(drawn.bars.length).toBeLessThanOrEqual(24);
    expect(drawn.bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(99);
    expect(drawn.bars[0]?.label).toMatch(/^Jan 1, 2025 to Jan 5, 2025$/);
  });
});

describe("meanOf", () => {
  it.each([
    ["text has none", text, profile({ complete: true, values: [{ value: "1", count: 1 }] }), null],
    [
      "exact",
      integer,
      profile({
        complete: true,
        values: [
          { value: 1, count: 3 },
          { value: 5, count: 1 },
        ],
      }),
      { value: 2, exact: true },
    ],
    [
      "estimated",
      double,
      profile({
        histogram: [
          { low: 0, high: 2, count: 1 },
          { low: 2, high: 4, count: 1 },
        ],
      }),
      { value: 2, exact: false },
    ],
    ["nothing to tell it from", double, profile({}), null],
  ])("%s", (_, column, given, wanted) => {
    expect(meanOf(column, given)).toEqual(wanted);
  });
});

describe("metricWords", () => {
  const metric = (numerator: Metric["numerator"], denominator: Metric["denominator"] = null): Metric => ({
    name: "m",
    table: "t",
    description: "",
    synonyms: [],
    format: "number",
    numerator,
    denominator,
  });
  const returned = { column: "returned", op: "=", value: true };
  it.each([
    [
      metric({ agg: "count", where: [returned] }, { agg: "count" }),
      "Number of rows where returned is yes, divided by the number of rows",
    ],
    [metric({ agg: "avg", column: "price" }), "Average of price"],
    [metric({ agg: "max", column: "price" }), "Highest price"],
    [metric({ agg: "count", column: "csat" }), "Number of rows with a value in csat"],
    [metric({ agg: "count_distinct", column: "sku" }), "Number of different values of sku"],
    [
      metric({ agg: "sum", of: { op: "*", left: { column: "a" }, right: { column: "b" } } }),
      "Sum of (a × b)",
    ],
    [
      metric({ agg: "count", where: [{ any: [returned, { column: "x", op: "not_null" }] }] }),
      "Number of rows where returned is yes or x is not empty",
    ],
    [
      metric({ agg: "count", where: [{ column: "s", op: "in", value: ["a", "b"] }] }),
      "Number of rows where s is one of “a”, “b”",
    ],
    [metric({ agg: "count", where: [{ column: "s", op: "sounds_like", value: "a" }] }), null],
    [metric({ agg: "magic", column: "x" }), null],
  ])("%#", (given, wanted) => {
    expect(metricWords(given)).toBe(wanted);
  });
});

const column = (name: string, part: Partial<Column> = {}): Column => ({
  name,
  type: "text",
  sql_type: "VARCHAR",
  synonyms: [],
  masked: false,
  description: "",
  unit: "",
  nullable: true,
  ...part,
});
const orders = {
  name: "orders",
  description: "One row per order.",
  columns: [column("order_id"), column("total", { unit: "EUR" })],
};
const items = {
  name: "items",
  description: "Lines.",
  columns: [column("order_id"), column("sku", { description: "The product" })],
};

describe("findIn", () => {
  it.each([
    ["", { orders: 2, items: 2 }],
    ["ORDERS", { orders: 2 }],
    ["order_id", { orders: 1, items: 1 }],
    ["items product", { items: 1 }],
    ["eur", { orders: 1 }],
    ["nothing", {}],
  ])("%s", (words, wanted) => {
    const found = findIn([orders, items], words);
    expect(Object.fromEntries(found.map(({ table, columns }) => [table.name, columns.length]))).toEqual(
      wanted,
    );
  });
});

describe("erDiagram", () => {
  const related = [
    { many_table: "items", many_column: "order_id", one_table: "orders", one_column: "order_id" },
  ];
  it("shows keys, or all columns", () => {
    expect(erDiagram([orders, items], related)).toBe(
      [
        "erDiagram",
        '  "orders" {',
        "    text order_id PK",
        "  }",
        '  "items" {',
        "    text order_id FK",
        "  }",
        '  "orders" ||--o{ "items" : "order_id"',
      ].join("\n"),
    );
    expect(erDiagram([orders, items], related, { allColumns: true })).toContain("text sku");
  });
  it("lets no name out of its quotes", () => {
    const drawn = erDiagram([{ name: 'a" { }\n%%x', columns: [column("2 b")] }], [], { allColumns: true });
    expect(drawn.split("\n")[1]).toBe(`  "a' { }'''x" {`);
    expect(drawn).toContain("text _2_b");
  });
});
