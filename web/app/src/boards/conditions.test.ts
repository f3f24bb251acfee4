import { expect, it } from "vitest";
import { conditionOf, inWords, opsFor } from "./conditions";

it.each([
  ["text", "=", " North ", "North"],
  ["text", "in", "North, South", ["North", "South"]],
  ["integer", ">", "10", 10],
  ["float", "between", "1, 2.5", [1, 2.5]],
  ["date", ">=", "2024-01-01", "2024-01-01"],
  ["boolean", "=", "no", false],
] as const)("a %s filter with %s and %s", (kind, op, written, value) => {
  expect(conditionOf("c", kind, op, written)).toEqual({ column: "c", op, value });
});

it.each([
  ["integer", "=", "many"],
  ["float", "between", "1"],
  ["boolean", "=", "maybe"],
  ["text", "=", "  "],
] as const)("a %s filter with %s cannot have %s", (kind, op, written) => {
  expect(conditionOf("c", kind, op, written)).toBeNull();
});

it("needs no value to look for empty cells", () => {
  expect(conditionOf("c", "text", "is_null", "")).toEqual({ column: "c", op: "is_null", value: null });
});

it("is said in words", () => {
  expect(inWords({ column: "region", op: "in", value: ["North", "South"] })).toBe(
    "region is one of North, South",
  );
  expect(inWords({ column: "day", op: "is_null", value: null })).toBe("day is empty");
  expect(inWords({ column: "price", op: "between", value: [1, 2] })).toBe("price is between 1 and 2");
});

it("offers an order where there is one", () => {
  expect(opsFor("timestamp")).toContain(">=");
  expect(opsFor("text")).not.toContain(">=");
});
