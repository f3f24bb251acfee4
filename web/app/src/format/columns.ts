// What the catalog knows of a result's columns: unit and format, found by name.
import type { Dataset, DatasetSchema, Metric, ResultColumn } from "~/api/model";
import type { Meaning, ShownColumn } from "./cell";

type Known = Pick<Dataset | DatasetSchema, "tables" | "metrics">;

const AGGREGATE =
  /^(sum|avg|average|mean|min|max|median|total)_(of_)?|_(sum|avg|average|mean|min|max|median|total)$/i;

/** `avg_unit_price` has the unit of `unit_price`; `return_rate` the format of the metric of that name. */
export function withMeaning(columns: readonly ResultColumn[], dataset: Known | undefined): ShownColumn[] {
  return columns.map((column) => ({ ...column, ...meaningOf(column.name, dataset) }));
}

function meaningOf(name: string, dataset: Known | undefined): { unit?: string; format?: Meaning } {
  const wanted = name.toLowerCase();
  const metric = dataset?.metrics?.find((one) => one.name.toLowerCase() === wanted);
  if (metric) return metricMeaning(metric, dataset);
  const bare = wanted.replace(AGGREGATE, "");
  const units = new Set<string>();
  for (const table of dataset?.tables ?? []) {
    for (const column of table.columns) {
      const known = column.name.toLowerCase();
      if (known === wanted || known === bare) units.add(column.unit ?? "");
    }
  }
  // Two tables that disagree about a name leave it without a unit.
  const [unit] = units;
  return units.size === 1 && unit ? ofUnit(unit) : {};
}

/** A metric made of one column has that column's unit, unless it is a share. */
function metricMeaning(metric: Metric, dataset: Known | undefined): { unit?: string; format?: Meaning } {
  const format = metric.format ?? "number";
  if (format === "percent") return { format };
  const of = metric.numerator.column;
  const table = dataset?.tables.find((one) => one.name === metric.table);
  const unit = table?.columns.find((one) => one.name === of)?.unit;
  return unit ? { format, ...ofUnit(unit) } : { format };
}

/** The catalog calls a share of one a `fraction`; people read it as percent. */
function ofUnit(unit: string): { unit?: string; format?: Meaning } {
  return unit === "fraction" ? { format: "percent" } : { unit };
}
