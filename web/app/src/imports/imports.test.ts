import { expect, it } from "vitest";
import { isTable } from "./drop_anywhere";

it.each([
  ["a\tb\n1\t2\n", true],
  ["a\tb\r\n1\t2", true],
  ["a\tb\n1", false],
  ["one line\twith a tab", false],
  ["a sentence\nand another", false],
  ["", false],
])("%j is a copied table: %s", (text, expected) => {
  expect(isTable(text)).toBe(expected);
});
