// What a person types above a column, read as a test of its cells.
// Text: a part of it, `=whole`, `!part`. Numbers and dates: `5`, `>5`, `<=5`, `1..10`, `5..`. All: `null`, `!null`.
import type { ColumnType } from "~/api/model";
import { isNumeric, isShare, isTemporal, type ShownColumn } from "~/format";
import { momentOf } from "./order";

export type Test = (value: unknown) => boolean;

/** Nothing when the text cannot be read for this column; an empty one lets everything through. */
export function testOf(text: string, column: ShownColumn): Test | null {
  const typed = text.trim();
  if (typed === "") return () => true;
  if (/^null$/i.test(typed)) return isNone;
  if (/^!\s*null$/i.test(typed)) return (value) => !isNone(value);
  if (column.kind === "boolean") return booleanTest(typed);
  if (isNumeric(column)) return rangeTest(typed, (part) => numberSpan(part, column), placeOfNumber);
  if (isTemporal(column)) return rangeTest(typed, dateSpan, placeOfMoment);
  return textTest(typed);
}

const OF_NUMBERS = ">5, 1..10, null";
const EXAMPLES: Record<ColumnType, string> = {
  integer: OF_NUMBERS,
  decimal: OF_NUMBERS,
  float: OF_NUMBERS,
  date: ">2025-06, null",
  timestamp: ">2025-06-01, null",
  boolean: "yes, no, null",
  text: "part, =whole, !part",
  time: "part, =whole, !part",
  other: "part, !part, null",
};

export const exampleOf = (column: ShownColumn): string => EXAMPLES[column.kind];

function isNone(value: unknown): boolean {
  return value === null || value === undefined;
}

function folded(value: unknown): string {
  return (typeof value === "object" ? JSON.stringify(value) : String(value)).toLocaleLowerCase();
}

function textTest(typed: string): Test {
  const sign = /^[=!]/.exec(typed)?.[0] ?? "";
  const wanted = folded(typed.slice(sign.length).trim());
  if (sign === "=") return (value) => !isNone(value) && folded(value) === wanted;
  const holds: Test = (value) => !isNone(value) && folded(value).includes(wanted);
  return sign === "!" ? (value) => !holds(value) : holds;
}

function booleanTest(typed: string): Test | null {
  if (/^(y|yes|true|1)$/i.test(typed)) return (value) => value === true;
  return /^(n|no|false|0)$/i.test(typed) ? (value) => value === false : null;
}

/** From the first place that belongs to it up to the last, both included. */
interface Span {
  from: number;
  to: number;
}

function rangeTest(
  typed: string,
  spanOf: (part: string) => Span | null,
  placeOf: (value: unknown) => number,
): Test | null {
  const range = /^(.*?)\s*\.\.\s*(.*)$/.exec(typed);
  if (range) return between(range[1] ?? "", range[2] ?? "", spanOf, placeOf);
  const [, sign = "", rest = ""] = /^(>=|<=|>|<|=|!=|!|≥|≤)?\s*(.*)$/.exec(typed) ?? [];
  const span = spanOf(rest);
  if (!span) return null;
  const { from, to } = span;
  const tests: Record<string, (place: number) => boolean> = {
    ">": (place) => place > to,
    "<": (place) => place < from,
    ">=": (place) => place >= from,
    "≥": (place) => place >= from,
    "<=": (place) => place <= to,
    "≤": (place) => place <= to,
    "!": (place) => place < from || place > to,
    "!=": (place) => place < from || place > to,
  };
  const test = tests[sign] ?? ((place: number) => place >= from && place <= to);
  return (value) => !isNone(value) && test(placeOf(value));
}

function between(
  low: string,
  high: string,
  spanOf: (part: string) => Span | null,
  placeOf: (value: unknown) => number,
): Test | null {
  const least = low === "" ? Number.NEGATIVE_INFINITY : spanOf(low)?.from;
  const most = high === "" ? Number.POSITIVE_INFINITY : spanOf(high)?.to;
  if (least === undefined || most === undefined || (low === "" && high === "")) return null;
  return (value) => {
    if (isNone(value)) return false;
    const place = placeOf(value);
    return place >= least && place <= most;
  };
}

const placeOfNumber = (value: unknown) => Number(value);

/** `1,200`, `15 %`: shares are typed as they are shown. What is shown is rounded, so a span is found around it. */
function numberSpan(part: string, column: ShownColumn): Span | null {
  const digits = part.replace(/[\s,'€$£]/g, "");
  const [, bare, sign] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%?)$/i.exec(digits) ?? [];
  if (bare === undefined) return null;
  const share = isShare(column);
  if (sign === "%" && !share && column.unit !== "%") return null;
  const value = Number(bare);
  if (!share) return { from: value, to: value };
  const half = 0.5 * 10 ** -(bare.split(".")[1]?.length ?? 0);
  // Under one and without a percent sign it is the share itself.
  if (sign !== "%" && Math.abs(value) <= 1) return { from: value, to: value };
  return { from: (value - half) / 100, to: (value + half) / 100 };
}

const placeOfMoment = (value: unknown) => momentOf(String(value));

const DAY_MS = 86_400_000;

/** A year, a month, a day, or a moment: the earlier ones last as long as they do. */
function dateSpan(part: string): Span | null {
  const [, year, month, day, clock] =
    /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:[T ](\d\d:\d\d(?::\d\d)?))?$/.exec(part.trim()) ?? [];
  if (year === undefined || (clock !== undefined && day === undefined)) return null;
  const [m, d] = [Number(month ?? 1), Number(day ?? 1)];
  if (m < 1 || m > 12 || d < 1 || d > 31) return null;
  const from = Date.UTC(Number(year), m - 1, d);
  if (clock !== undefined) {
    const moment = momentOf(`${year}-${month}-${day}T${clock}`);
    return Number.isNaN(moment) ? null : { from: moment, to: moment + (clock.length > 5 ? 999 : 59_999) };
  }
  if (day !== undefined) return { from, to: from + DAY_MS - 1 };
  const next = month === undefined ? Date.UTC(Number(year) + 1, 0, 1) : Date.UTC(Number(year), m, 1);
  return { from, to: next - 1 };
}
