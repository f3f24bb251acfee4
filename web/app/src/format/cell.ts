// How one cell of a result or of a sample is shown. The value itself is never changed.
import type { ColumnType } from "~/api/model";
import { NONE, number, percent } from "./number";
import { date, time } from "./time";

/** A column of a result or of the catalog, as the server describes it. */
export interface ShownColumn {
  name: string;
  kind: ColumnType;
  /** `fraction` is shown in percent; empty where none is known. */
  unit?: string | undefined;
  /** The engine's own name of the type, for people who want to know it. */
  type?: string | undefined;
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

const NUMERIC: ReadonlySet<ColumnType> = new Set<ColumnType>(["integer", "decimal", "float"]);

export function isNumeric({ kind }: Pick<ShownColumn, "kind">): boolean {
  return NUMERIC.has(kind);
}

/** Days and moments, which have an order and a length. */
export function isTemporal({ kind }: Pick<ShownColumn, "kind">): boolean {
  return kind === "date" || kind === "timestamp";
}

/** Whether 0.25 stands for 25 %. */
export function isShare(column: Pick<ShownColumn, "kind" | "unit">): boolean {
  return isNumeric(column) && column.unit === "fraction";
}

export function cell(value: unknown, column: ShownColumn): ShownCell {
  const align = isNumeric(column) ? "right" : "left";
  if (value === null || value === undefined) return { text: NONE, title: "no value", align, empty: true };
  const shown = shownOf(value, column);
  const raw = typeof value === "object" ? JSON.stringify(value) : String(value);
  return shown === raw
    ? { text: shown, align, empty: false }
    : { text: shown, title: raw, align, empty: false };
}

function shownOf(value: unknown, column: ShownColumn): string {
  if (isNumeric(column)) return numeric(value, column);
  if (column.kind === "date") return date(value).text;
  if (column.kind === "timestamp") return time(value).text;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function numeric(value: unknown, column: ShownColumn): string {
  const { name, kind, unit = "", least } = column;
  if (isShare(column)) return percent(value);
  // A year and a key are names made of digits: no separators.
  if (kind === "integer" && /(^|_)(id|year)$/i.test(name)) return String(value);
  return number(value, { unit, least });
}
