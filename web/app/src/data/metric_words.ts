// A metric's definition in words. What the words do not cover is left to the JSON, which is always shown too.
import type { Metric } from "~/api/model";

type Json = Readonly<Record<string, unknown>>;

const AGGREGATES: Readonly<Record<string, string>> = {
  sum: "sum of",
  avg: "average of",
  min: "lowest",
  max: "highest",
  median: "median of",
  stddev: "standard deviation of",
  count_distinct: "number of different values of",
};

const COMPARISONS: Readonly<Record<string, string>> = {
  "=": "is",
  "!=": "is not",
  "<": "is below",
  "<=": "is at most",
  ">": "is above",
  ">=": "is at least",
  in: "is one of",
  not_in: "is none of",
  between: "is between",
  contains: "contains",
  startswith: "starts with",
  endswith: "ends with",
  is_null: "is empty",
  not_null: "is not empty",
};

const SIGNS: Readonly<Record<string, string>> = { "+": "+", "-": "−", "*": "×", "/": "÷" };

/** Nothing when a part of it has no words here. */
export function metricWords({
  numerator,
  denominator,
}: Pick<Metric, "numerator" | "denominator">): string | null {
  const above = expression(numerator);
  if (above === null) return null;
  if (!denominator) return capital(above);
  const below = expression(denominator);
  return below === null ? null : `${capital(above)}, divided by the ${below}`;
}

function expression(item: Json): string | null {
  if (typeof item.agg === "string") return aggregate(item);
  if (typeof item.column === "string") return item.column;
  if ("value" in item) return valueText(item.value);
  if (isJson(item.left) && isJson(item.right) && typeof item.op === "string") {
    const [left, right, sign] = [expression(item.left), expression(item.right), SIGNS[item.op]];
    return left && right && sign ? `(${left} ${sign} ${right})` : null;
  }
  return null;
}

function aggregate(item: Json): string | null {
  const said = measured(item);
  if (said === null || !Array.isArray(item.where) || item.where.length === 0) return said;
  const conditions = joined(item.where, "and");
  return conditions === null ? null : `${said} where ${conditions}`;
}

function measured(item: Json): string | null {
  const of = isJson(item.of) ? expression(item.of) : typeof item.column === "string" ? item.column : null;
  const each = item.distinct === true ? "different " : "";
  if (item.agg === "count") {
    if (of === null || of === "*") return isJson(item.of) ? null : "number of rows";
    return each ? `number of different values of ${of}` : `number of rows with a value in ${of}`;
  }
  if (of === null) return null;
  if (item.agg === "quantile") return `${Number(item.q) * 100} % quantile of ${of}`;
  const words = AGGREGATES[String(item.agg)];
  return words ? `${words} ${each}${of}` : null;
}

function condition(filter: unknown): string | null {
  if (!isJson(filter)) return null;
  if (Array.isArray(filter.any)) return joined(filter.any, "or");
  if (Array.isArray(filter.all)) return joined(filter.all, "and");
  if (isJson(filter.not)) {
    const inner = condition(filter.not);
    return inner && `not (${inner})`;
  }
  const words = COMPARISONS[String(filter.op)];
  if (typeof filter.column !== "string" || !words) return null;
  if (typeof filter.other_column === "string") return `${filter.column} ${words} ${filter.other_column}`;
  if (!("value" in filter)) return `${filter.column} ${words}`;
  const value = filter.op === "between" ? rangeText(filter.value) : valueText(filter.value);
  return `${filter.column} ${words} ${value}`;
}

function joined(filters: readonly unknown[], word: "and" | "or"): string | null {
  const said = filters.map(condition);
  return said.every((one) => one !== null) ? said.join(` ${word} `) : null;
}

function rangeText(value: unknown): string {
  return Array.isArray(value) ? value.map(valueText).join(" and ") : valueText(value);
}

function valueText(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return typeof value === "string" ? `“${value}”` : String(value);
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
