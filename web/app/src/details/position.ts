// The gate counts characters; the browser counts UTF-16 units, and an editor takes CR LF for one line break.

export interface Range {
  from: number;
  to: number;
}

/** As an editor keeps it: every line break is one `\n`. */
export function editorText(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** The same place in `editorText(text)`, both in characters. */
export function editorPosition(text: string, position: number): number {
  const before = Array.from(text).slice(0, position).join("");
  return Array.from(editorText(before)).length;
}

/** `length` characters from character `position` on, in UTF-16 units. At least one character, where there is one. */
export function rangeOf(text: string, position: number, length: number): Range {
  const from = unitsBefore(text, position);
  const to = unitsBefore(text, position + Math.max(length, 1));
  if (to > from) return { from, to };
  // Something is missing at the end of the text: the last character stands for it.
  return { from: Math.max(0, text.length - 1), to: text.length };
}

function unitsBefore(text: string, characters: number): number {
  let units = 0;
  let passed = 0;
  for (const character of text) {
    if (passed >= characters) break;
    passed += 1;
    units += character.length;
  }
  return units;
}
