import { expect, test } from "vitest";
import { corrected } from "./correction";

const TEXT = '{"select": [{"column": "categry"}],\n  "limt": 3}';

test.each([
  [
    "select[0].column",
    "no column `categry` in t; did you mean `category`?",
    '{"select": [{"column": "category"}],\n  "limt": 3}',
  ],
  [
    "limt",
    "unknown field `limt`; did you mean `limit`?",
    '{"select": [{"column": "categry"}],\n  "limit": 3}',
  ],
  ["select[0].column", "no column `categry` in t", TEXT],
  ["select[0]", "did you mean `x`?", TEXT],
])("%s: %s", (field, message, expected) =>
  expect(corrected(TEXT, { field, message, suggestion: "" })).toBe(expected),
);
