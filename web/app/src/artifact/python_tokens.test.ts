import { expect, test } from "vitest";
import { pythonTokens } from "./python_tokens";

/** Every coloured word with its look. */
const coloured = (code: string) =>
  pythonTokens(code)
    .filter((one) => one.look !== "plain")
    .map(({ look, text }) => `${look}:${text}`);

test.each<[string, string, string[]]>([
  [
    "keywords",
    "for x in y:\n  if not x: return",
    ["keyword:for", "keyword:in", "keyword:if", "keyword:not", "keyword:return"],
  ],
  ["names that hold keywords", "format = forest.index + inform", []],
  ["none and None", "none = None", ["keyword:None"]],
  ["strings", `a = "x" + 'y # z' + f"{b}"`, [`string:"x"`, `string:'y # z'`, `string:f"{b}"`]],
  ["long strings", '"""a\n"b" for\n"""', ['string:"""a\n"b" for\n"""']],
  ["an open string ends with its line", `a = "x\nfor`, [`string:"x`, "keyword:for"]],
  ["escapes", String.raw`"a\"b" + 1`, [String.raw`string:"a\"b"`, "number:1"]],
  ["numbers", "1_000 + 0xFF - 1.5e-3 + x2", ["number:1_000", "number:0xFF", "number:1.5e-3"]],
  ["comments", "x = 1  # for 'me'", ["number:1", "comment:# for 'me'"]],
])("%s", (_, code, expected) => {
  expect(coloured(code)).toEqual(expected);
});

test("the pieces are the text", () => {
  for (const code of ["", "é = '", 'x = """', "if\t1:\n\n# ende\n", "\\ \" ' ` ½ 0x"])
    expect(
      pythonTokens(code)
        .map((one) => one.text)
        .join(""),
    ).toBe(code);
});
