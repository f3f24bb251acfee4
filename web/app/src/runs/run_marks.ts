// Runs that nobody asked for by themselves: what the schema page read, and the value an answer is compared with.
import type { PlanJson, RunView } from "~/api/model";

export type Mark = "sample rows" | "overall value";

type Told = Pick<RunView, "run_id" | "question" | "sql" | "plan" | "dataset_id" | "origin" | "created_at">;

/** `among` are the runs it is listed with. */
export function markOf(run: Told, among: readonly Told[]): Mark | null {
  if (isSample(run)) return "sample rows";
  return isOverall(run, among) ? "overall value" : null;
}

/** The first rows of a table, read to show what is in it. */
export function isSample({ question, sql, plan, origin }: Told): boolean {
  const table = /^Sample rows of (.+)$/s.exec(question)?.[1];
  if (table === undefined || plan || origin || !sql) return false;
  const from = ` FROM "${table.replaceAll('"', '""')}" LIMIT `;
  return sql.startsWith('SELECT "') && /^\d+$/.test(sql.slice(sql.lastIndexOf(from) + from.length));
}

const TOGETHER_MS = 2000;

/** Asked in the same breath as a run by groups, for some of its amounts over everything. */
function isOverall(run: Told, among: readonly Told[]): boolean {
  const own = selectOf(run.plan);
  if (own.length === 0 || run.plan?.group_by) return false;
  return among.some((other) => {
    const theirs = selectOf(other.plan);
    const apart = Math.abs(Date.parse(other.created_at) - Date.parse(run.created_at));
    return (
      other.run_id !== run.run_id &&
      other.question === run.question &&
      other.dataset_id === run.dataset_id &&
      apart < TOGETHER_MS &&
      theirs.length > own.length &&
      own.every((item) => theirs.includes(item))
    );
  });
}

function selectOf(plan: PlanJson | null): string[] {
  const items: unknown = plan?.select;
  return Array.isArray(items) ? items.map((item) => JSON.stringify(item)) : [];
}
