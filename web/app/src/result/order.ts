// In which order rows stand when one column is sorted. Cells are ranked once; sorting then compares numbers.
import type { Row } from "~/api/model";
import { isNumeric, type ShownColumn } from "~/format";

/** One for every row; nothing where there is no value. */
export type Ranks = readonly (number | undefined)[];

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export function ranksOf(rows: readonly Row[], at: number, column: ShownColumn): Ranks {
  const distinct = new Set<unknown>();
  for (const row of rows) distinct.add(keyOf(row[at]));
  distinct.delete(undefined);
  const compare = comparing(column);
  const ranks = new Map<unknown, number>();
  let rank = 0;
  let before: unknown;
  for (const key of [...distinct].sort(compare)) {
    // What compares as equal shares a rank, so that equal rows stay in the order of the result.
    if (before !== undefined && compare(before, key) !== 0) rank += 1;
    ranks.set(key, rank);
    before = key;
  }
  return rows.map((row) => ranks.get(keyOf(row[at])));
}

/** The places of the rows in their new order. Nulls come last in both directions; equals keep their order. */
export function sortPlaces(places: readonly number[], ranks: Ranks, descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  return [...places].sort((one, other) => {
    const [a, b] = [ranks[one], ranks[other]];
    if (a === b) return one - other;
    if (a === undefined) return 1;
    if (b === undefined) return -1;
    return sign * (a - b);
  });
}

function keyOf(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  return typeof value === "object" ? JSON.stringify(value) : value;
}

function comparing(column: ShownColumn): (a: unknown, b: unknown) => number {
  const { kind } = column;
  if (isNumeric(column)) return compareNumbers;
  if (kind === "boolean") return (a, b) => Number(a) - Number(b);
  if (kind === "timestamp") return (a, b) => momentOf(String(a)) - momentOf(String(b)) || compareText(a, b);
  // ISO dates sort as text, without the collator's view of digits.
  if (kind === "date") return compareText;
  return (a, b) => collator.compare(String(a), String(b));
}

function compareNumbers(a: unknown, b: unknown): number {
  const [one, other] = [Number(a), Number(b)];
  if (Number.isNaN(one) || Number.isNaN(other))
    return Number(Number.isNaN(one)) - Number(Number.isNaN(other));
  if (one !== other) return one < other ? -1 : 1;
  // Two long integers may be one and the same double.
  return WHOLE.test(String(a)) && WHOLE.test(String(b))
    ? compareText(BigInt(String(a)), BigInt(String(b)))
    : 0;
}

const WHOLE = /^-?\d+$/;

function compareText<T>(a: T, b: T): number {
  return a < b ? -1 : Number(a > b);
}

/** Without a zone it is read as UTC: only the order matters. */
export function momentOf(text: string): number {
  const zoned = /(Z|[+-]\d\d(:?\d\d)?)$/.test(text.slice(10));
  return Date.parse(text.length <= 10 || zoned ? text : `${text.replace(" ", "T")}Z`);
}
