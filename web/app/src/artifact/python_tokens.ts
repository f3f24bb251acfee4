// Python told apart into the words that are coloured. Pure; it need not be right, only quick and never wrong about
// the text itself: the pieces put together are the text.

export type Look = "plain" | "keyword" | "string" | "number" | "comment";

export interface Token {
  look: Look;
  text: string;
}

const KEYWORDS =
  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case None True False";

const TOKEN = new RegExp(
  [
    String.raw`(?<comment>#[^\n]*)`,
    String.raw`(?<string>(?:\b[rbfu]{1,2})?(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))`,
    String.raw`(?<number>\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.[\d_]*)?(?:e[+-]?\d+)?j?)\b)`,
    String.raw`(?<keyword>\b(?:${KEYWORDS.replaceAll(" ", "|")})\b)`,
    // A name is taken whole, so that no keyword is found within it.
    String.raw`[A-Za-z_]\w*`,
  ].join("|"),
  "giu",
);

export function pythonTokens(code: string): Token[] {
  const tokens: Token[] = [];
  const add = (look: Look, text: string) => {
    const last = tokens.at(-1);
    if (text === "") return;
    if (last?.look === look) last.text += text;
    else tokens.push({ look, text });
  };
  let at = 0;
  for (const found of code.matchAll(TOKEN)) {
    add("plain", code.slice(at, found.index));
    add(lookOf(found.groups ?? {}), found[0]);
    at = found.index + found[0].length;
  }
  add("plain", code.slice(at));
  return tokens;
}

function lookOf({ comment, string, number, keyword }: Record<string, string | undefined>): Look {
  if (comment !== undefined) return "comment";
  if (string !== undefined) return "string";
  if (number !== undefined) return "number";
  // Only as they are written: `None` is one, `none` is a name.
  return keyword !== undefined && KEYWORDS.split(" ").includes(keyword) ? "keyword" : "plain";
}
