// What the columns of a result can be in a picture: names of things along an axis, or amounts.
import type { Figure, Row } from "~/api/model";
import { areDays, isNumeric, kindOf, type ShownColumn } from "~/format";

export interface Field {
  column: ShownColumn;
  at: number;
  cells: readonly unknown[];
  /** How many different values, nulls counted as one; no picture needs to know of more than a hundred. */
  distinct: number;
}

export interface Shape {
  keys: readonly Field[];
  measures: readonly Field[];
  rows: number;
}

// Whole numbers that name something rather than count it.
const NAMES = /(^|_)(id|year|month|week|day|hour|quarter|weekday|day_of_week|hour_of_day)$/i;
const MONTH = /^\d{4}-\d{2}$/;

export function shapeOf(columns: readonly ShownColumn[], rows: readonly Row[]): Shape {
  const fields = columns.map((column, at): Field => {
    const cells = rows.map((row) => row[at]);
    return { column: asDays(column, cells), at, cells, distinct: distinctIn(cells) };
  });
  const measures = fields.filter((field) => isAmount(field));
  // A column that says the same in every row tells nothing apart.
  const keys = fields.filter((field) => isKey(field) && (field.distinct > 1 || rows.length === 1));
  return { keys, measures, rows: rows.length };
}

const MANY = 100;

function distinctIn(cells: readonly unknown[]): number {
  const seen = new Set<string>();
  for (const cell of cells) {
    seen.add(labelOf(cell));
    if (seen.size >= MANY) break;
  }
  return seen.size;
}

function asDays(column: ShownColumn, cells: readonly unknown[]): ShownColumn {
  const days = kindOf(column.type) === "timestamp" && areDays(cells);
  return days ? { ...column, type: "DATE" } : column;
}

function isAmount({ column, cells }: Field): boolean {
  const named = /INT/i.test(column.type) && NAMES.test(column.name);
  return isNumeric(column) && !named && cells.some((cell) => numberOf(cell) !== null);
}

function isKey({ column }: Field): boolean {
  if (isNumeric(column)) return /INT/i.test(column.type) && NAMES.test(column.name);
  return kindOf(column.type) !== "other";
}

/** Its values have an order that is not the order of the answer. */
export function isOrdered({ column, cells }: Field): boolean {
  return isMoment({ column, cells }) || isNumeric(column);
}

export function isMoment({ column, cells }: Pick<Field, "column" | "cells">): boolean {
  const kind = kindOf(column.type);
  if (kind === "date" || kind === "timestamp") return true;
  return kind === "text" && cells.length > 0 && cells.every((cell) => MONTH.test(String(cell)));
}

/** No two rows have the same keys: each is one bar, one point, one slice. */
export function tellApart(keys: readonly Field[], rows: number): boolean {
  const seen = new Set<string>();
  for (let place = 0; place < rows; place += 1) {
    seen.add(keys.map((key) => labelOf(key.cells[place])).join("\u0000"));
  }
  return seen.size === rows;
}

export function numberOf(cell: unknown): number | null {
  if (typeof cell !== "number" && typeof cell !== "string") return null;
  const value = cell === "" ? Number.NaN : Number(cell);
  return Number.isFinite(value) ? value : null;
}

export function labelOf(cell: unknown): string {
  if (cell === null || cell === undefined) return "(empty)";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

/** The column that a figure's values come from: the first that has all of them. */
export function sourceOf(values: readonly unknown[], fields: readonly Field[]): Field | undefined {
  const wanted = values.filter((value) => value !== null && value !== undefined).map(String);
  if (wanted.length === 0) return undefined;
  return fields.find(({ cells }) => {
    const known = new Set(cells.map(String));
    return wanted.every((value) => known.has(value));
  });
}

/** The values of a trace along its axis of amounts. */
export function valuesOf(trace: Figure["data"][number]): readonly unknown[] {
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  if (trace.type === "pie") return list(trace.values);
  if (trace.type === "heatmap") return list(trace.z).flat();
  return list(trace.type === "histogram" || trace.orientation === "h" ? trace.x : trace.y);
}
