// What the table knows of its columns: meaning from the catalog, a word for the type, a first width.
import type { Dataset, ResultColumn, Row } from "~/api/model";
import { areDays, cell, kindOf, number, type ShownColumn, withMeaning } from "~/format";

export interface TableColumn extends ShownColumn {
  /** From the catalog, where a column or a metric has that name and only one meaning. */
  description?: string | undefined;
  /** How its cells are shown: the unit that stands in the header is not said again in every row. */
  cells: ShownColumn;
}

type Known = Pick<Dataset, "tables" | "metrics">;

/** What the caller knows holds against what is found by name. */
export function describedColumns(
  given: readonly (ResultColumn | ShownColumn)[],
  dataset: Known | undefined,
  rows: readonly Row[] = [],
): TableColumn[] {
  const found = withMeaning(
    given.map(({ name, type }) => ({ name, type })),
    dataset,
  );
  return given.map((column, place) => {
    const own: ShownColumn = column;
    const known = own.unit || own.format ? own : { ...own, ...found[place] };
    const description = descriptionOf(column.name, dataset);
    return { ...known, description, cells: cellColumn(known, place, rows) };
  });
}

function cellColumn(column: ShownColumn, at: number, rows: readonly Row[]): ShownColumn {
  const { unit = "", type } = column;
  // A currency is part of the number, and so is a percent sign.
  const aside = unit !== "" && unit !== "%" && number(1, { unit }).endsWith(` ${unit}`);
  return {
    ...column,
    type:
      kindOf(type) === "timestamp" && rows.length > 0 && areDays(rows.map((row) => row[at])) ? "DATE" : type,
    unit: aside ? undefined : column.unit,
    least: kindOf(type) === "number" ? commonDecimals(rows.slice(0, 200).map((row) => row[at])) : undefined,
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

/** The type in a word that needs no database. */
export function typeWord({ cells: { type }, format, unit }: TableColumn): string {
  const kind = kindOf(type);
  if (kind === "number") {
    if (format === "percent") return "percent";
    return unit || (/INT/i.test(type) ? "integer" : "number");
  }
  if (kind === "boolean") return "yes or no";
  // With a zone it is a moment, and shown in the viewer's; without one it is what the data's own clock said.
  if (kind === "timestamp") return /TZ|WITH TIME ZONE/i.test(type) ? "time in your zone" : "time";
  if (kind === "other") return /\[\d*\]$/.test(type) ? "list" : "value";
  return kind;
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
  let longest = Math.max(column.name.length * NAME_CHARACTER_PX + ARROW_PX, typeWord(column).length * 6.5);
  for (const row of rows.slice(0, SAMPLE)) {
    longest = Math.max(longest, cell(row[at], column.cells).text.length * CHARACTER_PX);
  }
  return Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, longest + PADDING_PX)));
}
