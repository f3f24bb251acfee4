// How one cell of a result or of a sample is shown. The value itself is never changed.
import { NONE, number, percent } from "./number";
import { date, time } from "./time";

export type Kind = "number" | "boolean" | "date" | "timestamp" | "text" | "other";
export type Meaning = "number" | "percent" | "currency" | "duration";

/** A column of a result (DuckDB's type) or of the catalog (logical type), with what is known of its meaning. */
export interface ShownColumn {
  name: string;
  /** `BIGINT`, `DECIMAL(10,2)`, or `integer`, `text`. */
  type: string;
  unit?: string | undefined;
  /** Of the metric behind it. */
  format?: Meaning | undefined;
  /** Decimals that every number of it has at least. */
  least?: number | undefined;
}

export interface ShownCell {
  text: string;
  /** For hovering, where what is shown is not what is there. */
  title?: string;
  align: "left" | "right";
  empty: boolean;
}

const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|REAL|DECIMAL|NUMERIC)\b/i;

export function kindOf(type: string): Kind {
  if (/(\[\d*\])$/.test(type)) return "other";
  if (NUMBERS.test(type)) return "number";
  if (/^BOOL/i.test(type)) return "boolean";
  if (/^DATE$/i.test(type)) return "date";
  if (/^TIMESTAMP/i.test(type)) return "timestamp";
  if (/^(VARCHAR|TEXT|UUID|ENUM|TIME|INTERVAL)/i.test(type)) return "text";
  return "other";
}

export function isNumeric(column: ShownColumn): boolean {
  return kindOf(column.type) === "number";
}

export function cell(value: unknown, column: ShownColumn): ShownCell {
  const kind = kindOf(column.type);
  const align = kind === "number" ? "right" : "left";
  if (value === null || value === undefined) return { text: NONE, title: "no value", align, empty: true };
  const shown = shownOf(value, kind, column);
  const raw = typeof value === "object" ? JSON.stringify(value) : String(value);
  return shown === raw
    ? { text: shown, align, empty: false }
    : { text: shown, title: raw, align, empty: false };
}

function shownOf(value: unknown, kind: Kind, column: ShownColumn): string {
  if (kind === "number") return numeric(value, column);
  if (kind === "date") return date(value).text;
  if (kind === "timestamp") return time(value).text;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function numeric(value: unknown, { name, unit = "", format, type, least }: ShownColumn): string {
  if (format === "percent") return percent(value);
  // A year and a key are names made of digits: no separators.
  if (/^u?(big|small|tiny|huge)?int/i.test(type) && /(^|_)(id|year)$/i.test(name)) return String(value);
  return number(value, { unit, least });
}
