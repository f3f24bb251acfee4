// A plan in one line, for lists.
import type { PlanJson } from "~/api/model";

export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** `return_rate, count by category from order_items`: enough to tell one plan from another. */
export function planLine(plan: PlanJson): string {
  const select = list(plan.select).map(itemName);
  const groups = list(plan.group_by).map(itemName);
  const shown = select.filter((name) => !groups.includes(name));
  const parts = [(shown.length > 0 ? shown : ["rows"]).join(", ")];
  if (groups.length > 0) parts.push(`by ${groups.join(", ")}`);
  if (typeof plan.table === "string") parts.push(`from ${plan.table}`);
  return parts.join(" ");
}

function itemName(item: unknown): string {
  if (typeof item === "string") return item;
  if (typeof item !== "object" || item === null) return "?";
  const { as, column, metric, agg, bucket } = item as Record<string, unknown>;
  if (typeof as === "string") return as;
  if (typeof metric === "string") return metric;
  if (typeof agg === "string") return typeof column === "string" ? `${agg} of ${column}` : agg;
  if (typeof bucket === "string") return bucket;
  return typeof column === "string" ? column : "?";
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
