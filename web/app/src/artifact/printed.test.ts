import { expect, test } from "vitest";
import { printed } from "./printed";

test.each([
  ["tags on their own lines go", "a\n[[table-1]]\nb\n[[plot-12]]\n", "a\nb"],
  ["a tag within a line stays", "see [[table-1]]", "see [[table-1]]"],
  ["nothing else is changed", "  a\n\n b", "  a\n\n b"],
  ["only tags", "[[html-1]]\n", ""],
])("%s", (_, text, expected) => {
  expect(printed(text)).toBe(expected);
});

test("a long text keeps its end", () => {
  const shown = printed(Array.from({ length: 9000 }, (_, line) => `line ${line}`).join("\n"));
  expect(shown.length).toBeLessThan(20_100);
  expect(shown).toMatch(/^\[the beginning is left out\]\nline \d+\n/);
  expect(shown).toMatch(/line 8999$/);
});
