import { expect, test } from "vitest";
import { brokenPlace, placeOf, segmentsOf } from "./json_places";

const TEXT = `{
  "table": "order_items",
  "select": [
    {"column": "categry"},
    {"agg": "sum", "of": {"op": "*", "left": {"column": "é😀"}}, "as": "x"}
  ],
  "filters": [{"any": [{"column": "a", "op": "=", "value": [1, -2.5]}]}],
  "limit": 0,
  "limt": true
}`;

test.each([
  ["table", '"order_items"'],
  ["select[0].column", '"categry"'],
  ["select[1].of.left.column", '"é😀"'],
  ["filters[0].any[0].value[1]", "-2.5"],
  ["limit", "0"],
  ["limt", "true"],
  ["select", '"select"'],
  ["select[1].of", '"of"'],
  ["select[1]", "{"],
  ["select[7].column", '"select"'],
  ["select[0].metric", "{"],
  ["table.name", '"order_items"'],
  ["group_by[0]", "{"],
  ["", "{"],
])("%s", (path, marked) => {
  const { from, to } = placeOf(TEXT, path);
  expect(TEXT.slice(from, to)).toBe(marked);
});

test("an unknown field is marked at its name", () => {
  const { from, to } = placeOf(TEXT, "limt", "name");
  expect(TEXT.slice(from, to)).toBe('"limt"');
});

test.each(["", "  ", "null", "nonsense"])("no plan at all: %o", (text) => {
  const { from, to } = placeOf(text, "select[0]");
  expect(to).toBeLessThanOrEqual(text.length);
  expect(from).toBeLessThanOrEqual(to);
});

test.each([
  ["{}", null],
  ['{"a": 1,}', ","],
  ['{"a": [1, 2}', "2"],
  ['{"a": 1', "1"],
  ['{"a" 1}', '"'],
])("%s is broken at %s", (text, marked) => {
  const found = brokenPlace(text);
  expect(found && text.slice(found.from, found.to)).toBe(marked);
});

test("paths", () =>
  expect(segmentsOf("define[0].plan.select[2].as")).toEqual(["define", 0, "plan", "select", 2, "as"]));
