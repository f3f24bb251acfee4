// A plan as text: what fits stays on one line, and fields come in the order in which a plan is thought of.
import type { PlanJson } from "~/api/model";

const ORDER = [
  "dataset_id name plan define table select filters time group_by derive having top_per_group order_by limit notes",
  "metric agg bucket expr any all not change running_total share_of_total rank zscore along kind op column left right",
  "of other_column value where q distinct last unit period from to as_of n by dir nulls within as",
]
  .join(" ")
  .split(" ");
const PLACES = new Map(ORDER.map((name, place) => [name, place]));

export function planText(plan: PlanJson, width = 44): string {
  return written(plan, "", width);
}

export function readPlan(text: string): PlanJson | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as PlanJson) : null;
  } catch {
    // Being typed: the caller says that it is no JSON yet.
    return null;
  }
}

/** `taken`: what stands on the line already, beside the indent. */
function written(value: unknown, indent: string, width: number, taken = 0): string {
  const flat = onOneLine(value);
  if (typeof value !== "object" || value === null || (indent && indent.length + taken + flat.length <= width))
    return flat;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((item) => inner + written(item, inner, width)).join(",\n")}\n${indent}]`;
  }
  const lines = inOrder(value).map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${written(member, inner, width, name.length + 4)}`,
  );
  return lines.length ? `{\n${lines.join(",\n")}\n${indent}}` : "{}";
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  return `{${inOrder(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${onOneLine(member)}`)
    .join(", ")}}`;
}

function inOrder(value: object): [string, unknown][] {
  const place = (name: string) => PLACES.get(name) ?? ORDER.length;
  return Object.entries(value).sort(([a], [b]) => place(a) - place(b));
}
