// What differs between the rows of two runs. Rows are matched by their key columns where those tell rows apart.
import type { Cell, ResultColumn, Row } from "~/api/model";
import { areDays, isNumeric } from "~/format";

export interface Rows {
  columns: readonly ResultColumn[];
  rows: readonly Row[];
}

export interface ColumnPlace extends ResultColumn {
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
    const at = b.findIndex((one) => one.name === column.name);
    const other = b[at];
    const first = a.findIndex((one) => one.name === column.name) === place;
    // Where they disagree about the unit, the numbers are shown as they are.
    const unit = column.unit === other?.unit ? column.unit : "";
    return other && first ? [{ ...column, unit, a: place, b: at }] : [];
  });
}

/** All columns that are no measure, or else the first single column, if they name each row of both once. */
function keyColumns(columns: readonly ColumnPlace[], a: readonly Row[], b: readonly Row[]): ColumnPlace[] {
  const names = columns.filter((column) => !isNumeric(column));
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
  JSON.stringify(columns.map((column) => canonical(row[column[side]], column)));

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
    .filter((column) => !sameCell(a[column.a], b[column.b], column))
    .map(({ name }) => name);
  return cells.length > 0 ? { kind: "changed", a, b, cells } : { kind: "same", a, b };
}

type Kinded = Pick<ResultColumn, "kind">;

/** Sums of floats may differ in their last bits from run to run; that is no difference. */
export function sameCell(a: Cell, b: Cell, column: Kinded): boolean {
  if (canonical(a, column) === canonical(b, column)) return true;
  if (column.kind !== "float" || typeof a !== "number" || typeof b !== "number") return false;
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

/** Decimals and long integers may come as text on one side and as a number on the other. */
function canonical(value: Cell, column: Kinded): string {
  if (value === null || value === undefined) return "null";
  if (isNumeric(column) && typeof value === "string" && String(Number(value)) === value) {
    return JSON.stringify(Number(value));
  }
  return JSON.stringify(value);
}

/** `a` and `b` are the sums. */
export type Total = ResultColumn & { a: number; b: number };

const NO_SUM =
  /(^|_)(id|year|month|week|day|rank|rate|share|pct|percent|avg|average|mean|median|min|max|p\d\d)(_|$)/i;

/** Sums of what can be added up. Shares and averages cannot. */
export function totalsOf(columns: readonly ColumnPlace[], a: readonly Row[], b: readonly Row[]): Total[] {
  return columns
    .filter((column) => isNumeric(column) && !NO_SUM.test(column.name))
    .map((column) => ({ ...column, a: sum(a, column.a), b: sum(b, column.b) }));
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
      column.kind === "timestamp" &&
      areDays(a.map((row) => row[column.a])) &&
      areDays(b.map((row) => row[column.b]));
    return days ? { ...column, kind: "date" } : column;
  });
}
