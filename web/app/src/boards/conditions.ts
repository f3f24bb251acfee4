// Filters of a board, from what a person writes. Pure.
import type { BoardCondition, Column } from "~/api/model";

export type Op = BoardCondition["op"];

export const WORDS: Partial<Record<Op, string>> = {
  "=": "is",
  "!=": "is not",
  ">": "is more than",
  ">=": "is at least",
  "<": "is less than",
  "<=": "is at most",
  in: "is one of",
  not_in: "is none of",
  between: "is between",
  contains: "contains",
  startswith: "begins with",
  endswith: "ends with",
  is_null: "is empty",
  not_null: "is not empty",
};

const OF_TEXT: readonly Op[] = ["=", "!=", "in", "contains", "is_null", "not_null"];
const OF_ORDER: readonly Op[] = ["=", ">=", "<=", ">", "<", "between", "is_null", "not_null"];
const OF_TRUTH: readonly Op[] = ["=", "is_null", "not_null"];

type Kind = Column["type"];

const NUMBERS: readonly Kind[] = ["integer", "decimal", "float"];

export function opsFor(kind: Kind): readonly Op[] {
  if (kind === "boolean") return OF_TRUTH;
  return NUMBERS.includes(kind) || kind === "date" || kind === "timestamp" ? OF_ORDER : OF_TEXT;
}

export const takesValue = (op: Op): boolean => op !== "is_null" && op !== "not_null";

/** Null for a value that is not one of the column's. Several are written with commas between them. */
export function conditionOf(column: string, kind: Kind, op: Op, written: string): BoardCondition | null {
  if (!takesValue(op)) return { column, op, value: null };
  if (op === "in" || op === "not_in" || op === "between") {
    const values = written.split(",").map((one) => typed(kind, one));
    if (values.some((one) => one === null) || (op === "between" && values.length !== 2)) return null;
    return { column, op, value: values.flatMap((one) => (one === null ? [] : [one])) };
  }
  const value = typed(kind, written);
  return value === null ? null : { column, op, value };
}

function typed(kind: Kind, written: string): string | number | boolean | null {
  const text = written.trim();
  if (text === "") return null;
  if (kind === "boolean") return text === "yes" ? true : text === "no" ? false : null;
  if (!NUMBERS.includes(kind)) return text;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** A filter in words: `region is North`. */
export function inWords({ column, op, value }: BoardCondition): string {
  const said = Array.isArray(value) ? value.map(plain).join(op === "between" ? " and " : ", ") : plain(value);
  return `${column} ${WORDS[op] ?? op} ${said}`.trim();
}

const plain = (value: unknown): string =>
  value === true
    ? "yes"
    : value === false
      ? "no"
      : value === null || value === undefined
        ? ""
        : String(value);
