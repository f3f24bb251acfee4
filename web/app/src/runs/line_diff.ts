// What differs between two texts, line by line: the longest common subsequence of their lines.

export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Beyond so many comparisons the middles are shown as wholly different. */
const MOST = 4_000_000;

export function lineDiff(before: string, after: string): DiffLine[] {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) {
    tail += 1;
  }
  return [
    ...lines("same", a.slice(0, head)),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...lines("same", a.slice(a.length - tail)),
  ];
}

const lines = (kind: DiffLine["kind"], texts: readonly string[]): DiffLine[] =>
  texts.map((text) => ({ kind, text }));

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  if (a.length * b.length > MOST || a.length === 0 || b.length === 0) {
    return [...lines("removed", a), ...lines("added", b)];
  }
  const width = b.length + 1;
  // common[i * width + j]: how many lines a[i…] and b[j…] have in common, in order.
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      found.push({ kind: "same", text: a[i] ?? "" });
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      found.push({ kind: "removed", text: a[i] ?? "" });
      i += 1;
    } else {
      found.push({ kind: "added", text: b[j] ?? "" });
      j += 1;
    }
  }
  return [...found, ...lines("removed", a.slice(i)), ...lines("added", b.slice(j))];
}

const CLAUSE =
  /^(from|where|group\s+by|having|qualify|order\s+by|limit|offset|union|except|intersect|window|((left|right|full|inner|cross|asof|semi|anti)\s+(outer\s+)?)?join)\b/i;

/** SQL with each clause on a line of its own, so that a query written in one line can be compared too. */
export function clauseLines(sql: string): string {
  const text = sql.trim();
  let out = "";
  let quote = "";
  for (let place = 0; place < text.length; place += 1) {
    const sign = text[place] ?? "";
    if (quote) {
      if (sign === quote) quote = "";
    } else if (sign === "'" || sign === '"') {
      quote = sign;
    } else if (sign === " " && CLAUSE.test(text.slice(place + 1, place + 40))) {
      // A join has up to three words: it is broken before the first of them only.
      const joins = /\b(left|right|full|inner|cross|asof|semi|anti|outer)$/i.test(out);
      out += joins ? " " : "\n";
      continue;
    }
    out += sign;
  }
  return out.replace(/\n\s*\n/g, "\n");
}
