import { expect, test } from "vitest";
import { fieldsAt, type JsonSchema, type Names, valuesAt } from "./plan_words";

const SCHEMA: JsonSchema = {
  properties: {
    table: { type: "string" },
    select: { items: { oneOf: [{ $ref: "#/$defs/ColumnItem" }, { $ref: "#/$defs/AggItem" }] } },
    group_by: { items: { type: "string" } },
    filters: { items: { $ref: "#/$defs/Filter" } },
  },
  $defs: {
    ColumnItem: { properties: { column: { type: "string", description: "a column" }, as: {} } },
    AggItem: {
      properties: {
        agg: { enum: ["sum", "avg"] },
        column: { anyOf: [{ type: "string" }, { type: "null" }] },
      },
    },
    Filter: {
      oneOf: [
        { properties: { op: { enum: ["=", "in"] }, column: {} } },
        { properties: { any: { items: { $ref: "#/$defs/Filter" } } } },
      ],
    },
    Loop: { $ref: "#/$defs/Loop" },
  },
};
const NAMES: Names = {
  tables: [
    { name: "items", columns: [{ name: "price", type: "float" }] },
    { name: "orders", columns: [{ name: "region", type: "text" }] },
  ],
  metrics: [{ name: "return_rate", description: "" }],
};

const texts = (words: { text: string }[]) => words.map((word) => word.text);

test.each<[(string | number)[], string[]]>([
  [[], ["table", "select", "group_by", "filters"]],
  [
    ["select", 0],
    ["column", "as", "agg"],
  ],
  [
    ["filters", 0, "any", 3],
    ["op", "column", "any"],
  ],
  [["nothing", 0], []],
])("fields at %j", (path, expected) => expect(texts(fieldsAt(SCHEMA, path))).toEqual(expected));

test.each<[(string | number)[], string[]]>([
  [["table"], ["items", "orders"]],
  [
    ["select", 0, "agg"],
    ["sum", "avg"],
  ],
  [
    ["select", 0, "column"],
    ["price", "orders.region"],
  ],
  [["select", 0, "metric"], ["return_rate"]],
  [
    ["group_by", 1],
    ["price", "orders.region"],
  ],
  [
    ["order_by", 0, "expr"],
    ["return_rate", "price", "orders.region"],
  ],
  [
    ["filters", 0, "op"],
    ["=", "in"],
  ],
  [["notes"], []],
])("values at %j", (path, expected) =>
  expect(texts(valuesAt(SCHEMA, path, NAMES, "items"))).toEqual(expected),
);

test("a schema that refers to itself ends", () => {
  expect(fieldsAt({ $ref: "#/$defs/Loop", ...{ $defs: SCHEMA.$defs ?? {} } }, [])).toEqual([]);
});
