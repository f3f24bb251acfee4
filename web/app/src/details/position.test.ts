import { expect, test } from "vitest";
import { editorPosition, editorText, rangeOf } from "./position";

test.each([
  ["plain", "SELECT * FROM oders", 14, 5, "oders"],
  ["after an emoji", "SELECT '😀', * FROM oders", 19, 5, "oders"],
  ["an emoji itself", "SELECT 😀 FROM t", 7, 1, "😀"],
  ["combining marks are characters of their own", "SELECT 'e\u0301' FROM x", 17, 1, "x"],
  ["no length is one character", "DROP TABLE t", 0, 0, "D"],
  ["longer than the text", "SELECT 1", 7, 99, "1"],
  ["at the end, where something is missing", "SELECT (", 8, 0, "("],
])("%s", (_, text, position, length, marked) => {
  const { from, to } = rangeOf(text, position, length);
  expect(text.slice(from, to)).toBe(marked);
});

test("an empty text has nothing to mark", () => expect(rangeOf("", 0, 0)).toEqual({ from: 0, to: 0 }));

test.each([
  ["Windows line breaks", "SELECT '😀'\r\nFROM\r\noders", 18],
  ["old Mac line breaks", "SELECT '😀'\rFROM oders", 16],
  ["none", "SELECT '😀' FROM oders", 16],
])("the same place without %s", (_, text, position) => {
  const { from } = rangeOf(editorText(text), editorPosition(text, position), 5);
  expect(editorText(text).slice(from)).toBe("oders");
});
