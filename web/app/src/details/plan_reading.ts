// What a plan asks for, in a few words: for runs that no conversation has put into a sentence.
import type { PlanJson } from "~/api/model";

export interface Reading {
  name: string;
  text: string;
}

export function readingOf(plan: PlanJson): Reading[] {
  const select = list(plan.select);
  const measures = select.filter((item) => !isPlain(item)).map(itemWords);
  const columns = select.filter(isPlain).map(itemWords);
  const groups =
    plan.group_by === undefined ? (measures.length ? columns : []) : list(plan.group_by).map(itemWords);
  const shown = measures.length ? measures : columns;
  return [
    { name: "Shows", text: shown.join(", ") },
    { name: "By", text: groups.join(", ") },
    { name: "From", text: words(plan.table) },
    { name: "Where", text: list(plan.filters).map(filterWords).join(", and ") },
    { name: "When", text: timeWords(plan.time) },
    { name: "Also", text: list(plan.derive).map(derivedWords).join(", ") },
    { name: "Only", text: list(plan.having).map(filterWords).join(", and ") },
    { name: "Order", text: list(plan.order_by).map(orderWords).join(", then ") },
    {
      name: "At most",
      text: typeof plan.limit === "number" ? `${plan.limit} row${plan.limit === 1 ? "" : "s"}` : "",
    },
  ].filter((one) => one.text !== "");
}

type Item = Record<string, unknown>;

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const itemOf = (value: unknown): Item => (typeof value === "object" && value !== null ? (value as Item) : {});
const words = (value: unknown) => (typeof value === "string" ? value.replaceAll("_", " ") : "");

const isPlain = (value: unknown) =>
  typeof value === "string" ||
  (itemOf(value).agg === undefined && itemOf(value).metric === undefined && itemOf(value).op === undefined);

function itemWords(value: unknown): string {
  if (typeof value === "string") return words(value);
  const item = itemOf(value);
  if (item.metric) return words(item.metric);
  if (item.bucket) return `${words(item.bucket)} of ${words(item.column)}`;
  if (item.agg) return aggregateWords(item);
  if (item.op) return words(item.as) || `${itemWords(item.left)} ${item.op} ${itemWords(item.right)}`;
  return "value" in item ? String(item.value) : words(item.column);
}

const AGGREGATES: Readonly<Record<string, string>> = {
  avg: "average of",
  count: "number of",
  count_distinct: "number of different",
  max: "greatest",
  median: "median of",
  min: "least",
  quantile: "quantile of",
  stddev: "spread of",
  sum: "total of",
};

function aggregateWords(item: Item): string {
  const of = item.of ? itemWords(item.of) : words(item.column === "*" ? undefined : item.column) || "rows";
  const condition = list(item.where).map(filterWords).join(", and ");
  const name = AGGREGATES[String(item.agg)] ?? words(item.agg);
  return `${name} ${of}${condition ? ` where ${condition}` : ""}`;
}

const OPERATORS: Readonly<Record<string, string>> = {
  "=": "is",
  "!=": "is not",
  in: "is one of",
  not_in: "is none of",
  is_null: "is empty",
  not_null: "is not empty",
  startswith: "starts with",
  endswith: "ends with",
};

function filterWords(value: unknown): string {
  const item = itemOf(value);
  if (Array.isArray(item.any)) return `(${item.any.map(filterWords).join(" or ")})`;
  if (Array.isArray(item.all)) return `(${item.all.map(filterWords).join(" and ")})`;
  if (item.not) return `not ${filterWords(item.not)}`;
  const operator = OPERATORS[String(item.op)] ?? words(item.op);
  const given = item.op === "between" ? list(item.value).join(" and ") : valueWords(item);
  return `${words(item.column)} ${operator} ${given}`.trim();
}

function valueWords(item: Item): string {
  if (item.other_column) return words(item.other_column);
  if (Array.isArray(item.value)) return item.value.join(", ");
  return item.value === undefined ? "" : String(item.value);
}

function timeWords(value: unknown): string {
  const item = itemOf(value);
  if (item.period) return words(item.period);
  if (item.last) return `the last ${item.last} ${words(item.unit)}${item.last === 1 ? "" : "s"}`;
  return [item.from && `from ${item.from}`, item.to && `to ${item.to}`].filter(Boolean).join(" ");
}

function orderWords(value: unknown): string {
  if (typeof value === "string") return words(value);
  const item = itemOf(value);
  return `${words(item.expr)}, ${item.dir === "desc" ? "highest first" : "lowest first"}`;
}

function derivedWords(value: unknown): string {
  const [kind, of] = Object.entries(itemOf(value)).find(([name]) => DERIVED[name] !== undefined) ?? [];
  return kind ? `${DERIVED[kind]} ${words(of)}` : "";
}

const DERIVED: Readonly<Record<string, string>> = {
  share_of_total: "share of the total",
  rank: "rank by",
  change: "change of",
  running_total: "running total of",
  zscore: "z-score of",
};
