// What the table knows of its columns: a description from the catalog, a word for the kind, a first width.
import type { Dataset, Row } from "~/api/model";
import { areDays, cell, hasZone, isNumeric, isShare, number, type ShownColumn } from "~/format";

export interface TableColumn extends ShownColumn {
  /** From the catalog, where a column or a metric has that name and only one meaning. */
  description?: string | undefined;
  /** How its cells are shown: the unit that stands in the header is not said again in every row. */
  cells: ShownColumn;
  /** Some cell is a moment with a zone, which is shown in the viewer's. */
  zoned: boolean;
  /** Some cell is a list. */
  lists: boolean;
}

type Known = Pick<Dataset, "tables" | "metrics">;

export function describedColumns(
  given: readonly ShownColumn[],
  dataset: Known | undefined,
  rows: readonly Row[] = [],
): TableColumn[] {
  return given.map((column, place) => ({
    ...column,
    description: descriptionOf(column.name, dataset),
    cells: cellColumn(column, place, rows),
    zoned: column.kind === "timestamp" && rows.some((row) => hasZone(row[place])),
    lists: column.kind === "other" && rows.some((row) => Array.isArray(row[place])),
  }));
}

function cellColumn(column: ShownColumn, at: number, rows: readonly Row[]): ShownColumn {
  const { unit = "", kind } = column;
  // A currency is part of the number, and so is a percent sign.
  const aside = unit !== "" && unit !== "%" && !isShare(column) && number(1, { unit }).endsWith(` ${unit}`);
  return {
    ...column,
    kind: kind === "timestamp" && rows.length > 0 && areDays(rows.map((row) => row[at])) ? "date" : kind,
    unit: aside ? undefined : column.unit,
    least: isNumeric(column) ? commonDecimals(rows.slice(0, 200).map((row) => row[at])) : undefined,
  };
}

/** As many as the cells have that have most; small fractions go their own ways. */
function commonDecimals(cells: readonly unknown[]): number {
  const most = Math.max(
    0,
    ...cells.map((cell) => /\.(\d+)/.exec(number(cell, { locale: "en" }))?.[1]?.length ?? 0),
  );
  return most <= 2 ? most : 0;
}

function descriptionOf(name: string, dataset: Known | undefined): string | undefined {
  const wanted = name.toLowerCase();
  const metric = dataset?.metrics?.find((one) => one.name.toLowerCase() === wanted);
  if (metric) return metric.description || undefined;
  const found = new Set<string>();
  for (const table of dataset?.tables ?? []) {
    for (const column of table.columns) {
      if (column.name.toLowerCase() === wanted && column.description) found.add(column.description);
    }
  }
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

/** The kind in a word that needs no database. */
export function kindWord(column: TableColumn): string {
  if (isShare(column)) return "percent";
  if (isNumeric(column)) return column.unit || (column.kind === "integer" ? "integer" : "number");
  switch (column.cells.kind) {
    case "boolean":
      return "yes or no";
    // With a zone it is a moment, and shown in the viewer's; without one it is what the data's own clock said.
    case "timestamp":
      return column.zoned ? "time in your zone" : "time";
    case "date":
      return "date";
    case "other":
      return column.lists ? "list" : "value";
    default:
      return "text";
  }
}

const SAMPLE = 60;
const CHARACTER_PX = 8;
const NAME_CHARACTER_PX = 8.8;
const PADDING_PX = 24;
// The arrow of the sorting stands beside the name.
const ARROW_PX = 18;
export const LEAST_WIDTH = 72;
const MOST_WIDTH = 300;

export function widthOf(column: TableColumn, at: number, rows: readonly Row[]): number {
  let longest = Math.max(column.name.length * NAME_CHARACTER_PX + ARROW_PX, kindWord(column).length * 6.5);
  for (const row of rows.slice(0, SAMPLE)) {
    longest = Math.max(longest, cell(row[at], column.cells).text.length * CHARACTER_PX);
  }
  return Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, longest + PADDING_PX)));
}
