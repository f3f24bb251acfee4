// What differs between the rows of two runs. Rows are matched by their key columns where those tell rows apart.
import type { Cell, ResultColumn, Row } from "~/api/model";
import { areDays, kindOf } from "~/format";

export interface Rows {
  columns: readonly ResultColumn[];
  rows: readonly Row[];
}

export interface ColumnPlace {
  name: string;
  type: string;
  a: number;
  b: number;
}

export type RowDiff =
  | { kind: "same"; a: Row; b: Row }
  /** `cells`: names of the columns whose values differ. */
  | { kind: "changed"; a: Row; b: Row; cells: readonly string[] }
  | { kind: "onlyA"; a: Row }
  | { kind: "onlyB"; b: Row };

export interface ResultDiff {
  /** Columns that both have, in the order of `a`. */
  columns: readonly ColumnPlace[];
  onlyInA: readonly string[];
  onlyInB: readonly string[];
  /** What rows were matched by; nothing when whole rows were compared. */
  keys: readonly string[];
  rows: readonly RowDiff[];
  counts: Readonly<Record<RowDiff["kind"], number>>;
}

export function resultDiff(a: Rows, b: Rows): ResultDiff {
  const columns = sharedColumns(a.columns, b.columns);
  const named = new Set(columns.map(({ name }) => name));
  const keys = keyColumns(columns, a.rows, b.rows);
  const rows = columns.length === 0 ? [] : matched(columns, keys.length > 0 ? keys : columns, a.rows, b.rows);
  const counts = { same: 0, changed: 0, onlyA: 0, onlyB: 0 };
  for (const row of rows) counts[row.kind] += 1;
  return {
    columns,
    onlyInA: a.columns.map(({ name }) => name).filter((name) => !named.has(name)),
    onlyInB: b.columns.map(({ name }) => name).filter((name) => !named.has(name)),
    keys: keys.map(({ name }) => name),
    rows,
    counts,
  };
}

/** By name; of columns that share a name within a result, the first. */
function sharedColumns(a: readonly ResultColumn[], b: readonly ResultColumn[]): ColumnPlace[] {
  return a.flatMap((column, place) => {
    const other = b.findIndex((one) => one.name === column.name);
    const first = a.findIndex((one) => one.name === column.name) === place;
    return other >= 0 && first ? [{ ...column, a: place, b: other }] : [];
  });
}

/** All columns that are no measure, or else the first single column, if they name each row of both once. */
function keyColumns(columns: readonly ColumnPlace[], a: readonly Row[], b: readonly Row[]): ColumnPlace[] {
  const names = columns.filter(({ type }) => kindOf(type) !== "number");
  const candidates = [names, ...columns.map((column) => [column])];
  // A key of all columns could show no change.
  const fitting = candidates.find(
    (keys) =>
      keys.length > 0 &&
      keys.length < columns.length &&
      isUnique(a.map((row) => keyOf(row, keys, "a"))) &&
      isUnique(b.map((row) => keyOf(row, keys, "b"))),
  );
  return fitting ?? [];
}

const isUnique = (keys: readonly string[]) => new Set(keys).size === keys.length;

type Side = "a" | "b";

const keyOf = (row: Row, columns: readonly ColumnPlace[], side: Side): string =>
  JSON.stringify(columns.map((column) => canonical(row[column[side]], column.type)));

/** In the order of `a`, then what only `b` has. Rows with the same key are matched one to one. */
function matched(
  columns: readonly ColumnPlace[],
  keys: readonly ColumnPlace[],
  a: readonly Row[],
  b: readonly Row[],
): RowDiff[] {
  const waiting = new Map<string, Row[]>();
  for (const row of b) {
    const key = keyOf(row, keys, "b");
    const same = waiting.get(key);
    if (same) same.push(row);
    else waiting.set(key, [row]);
  }
  const found: RowDiff[] = a.map((row) => {
    const other = waiting.get(keyOf(row, keys, "a"))?.shift();
    return other ? compared(columns, row, other) : { kind: "onlyA", a: row };
  });
  const left = new Set([...waiting.values()].flat());
  return [...found, ...b.filter((row) => left.has(row)).map((row): RowDiff => ({ kind: "onlyB", b: row }))];
}

function compared(columns: readonly ColumnPlace[], a: Row, b: Row): RowDiff {
  const cells = columns
    .filter((column) => !sameCell(a[column.a], b[column.b], column.type))
    .map(({ name }) => name);
  return cells.length > 0 ? { kind: "changed", a, b, cells } : { kind: "same", a, b };
}

/** Sums of floats may differ in their last bits from run to run; that is no difference. */
export function sameCell(a: Cell, b: Cell, type: string): boolean {
  if (canonical(a, type) === canonical(b, type)) return true;
  if (!/^(DOUBLE|FLOAT|REAL)/i.test(type) || typeof a !== "number" || typeof b !== "number") return false;
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

/** Decimals and long integers may come as text on one side and as a number on the other. */
function canonical(value: Cell, type: string): string {
  if (value === null || value === undefined) return "null";
  if (kindOf(type) === "number" && typeof value === "string" && String(Number(value)) === value) {
    return JSON.stringify(Number(value));
  }
  return JSON.stringify(value);
}

export interface Total {
  name: string;
  type: string;
  a: number;
  b: number;
}

const NO_SUM =
  /(^|_)(id|year|month|week|day|rank|rate|share|pct|percent|avg|average|mean|median|min|max|p\d\d)(_|$)/i;

/** Sums of what can be added up. Shares and averages cannot. */
export function totalsOf(columns: readonly ColumnPlace[], a: readonly Row[], b: readonly Row[]): Total[] {
  return columns
    .filter(({ name, type }) => kindOf(type) === "number" && !NO_SUM.test(name))
    .map((column) => ({
      name: column.name,
      type: column.type,
      a: sum(a, column.a),
      b: sum(b, column.b),
    }));
}

const sum = (rows: readonly Row[], place: number) =>
  rows.reduce((total, row) => total + (Number(row[place]) || 0), 0);

/** Months and weeks come as timestamps: shown as days where all are. */
export function asDays(
  columns: readonly ColumnPlace[],
  a: readonly Row[],
  b: readonly Row[],
): readonly ColumnPlace[] {
  return columns.map((column) => {
    const days =
      /^TIMESTAMP$/i.test(column.type) &&
      areDays(a.map((row) => row[column.a])) &&
      areDays(b.map((row) => row[column.b]));
    return days ? { ...column, type: "DATE" } : column;
  });
}
