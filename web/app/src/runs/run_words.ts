// A run in a few words: what was asked, how long it took.
import type { RunView } from "~/api/model";
import { pythonOf } from "~/artifact/python_of";
import { oneLine, planLine } from "./plan_line";

type Asked = Pick<RunView, "question" | "plan" | "sql">;

/** The question; without one, what ran. `code` says that it is no plain language. */
export function titleOf(run: Asked): { text: string; code: boolean } {
  if (run.question && !isSql(run)) return { text: oneLine(run.question), code: false };
  if (run.plan) return { text: planLine(run.plan), code: true };
  const code = run.sql ?? pythonOf(run) ?? "";
  return { text: oneLine(code) || "Nothing was asked", code: code !== "" };
}

const STATEMENT = /^\s*(select\s|with\s+\w+\s+as\s*\()/i;

/** Whoever asks in SQL has no other question than the query; edited, the query says more than the question. */
function isSql({ question, sql, plan }: Asked): boolean {
  if (sql === null || plan) return false;
  return oneLine(question) === oneLine(sql) || STATEMENT.test(question);
}

/** Code stands below: it is no heading. */
export function headingOf(run: RunView): string {
  const { text, code } = titleOf(run);
  if (!code || run.plan) return text;
  return pythonOf(run) === null ? "A query in SQL" : "An analysis in Python";
}

type Lived = Pick<RunView, "started_at" | "finished_at">;
type Timed = Lived & Pick<RunView, "status" | "exec_time_ms" | "cached_from">;

/** From its start to its end, or to now while it runs; nothing while it waits. */
export function wholeMs(run: Lived, now: number): number | null {
  if (!run.started_at) return null;
  const end = run.finished_at ? Date.parse(run.finished_at) : now;
  return Math.max(end - Date.parse(run.started_at), 0);
}

/** What a person is told it took: the query itself; nothing where an earlier run answered. */
export function tookMs(run: Timed, now: number): number | null {
  if (run.cached_from) return null;
  return run.status === "succeeded" ? run.exec_time_ms : wholeMs(run, now);
}

const STEPS: readonly (readonly [title: string, stats: readonly string[]])[] = [
  ["Plan to SQL", ["resolve_ms", "write_sql_ms"]],
  ["Gate", ["judge_ms"]],
  ["Earlier answers", ["recall_ms"]],
  ["Sandbox", ["execute_ms"]],
  ["Chart", ["draw_ms"]],
];

/** What the time went into, by step, in the order of the work. */
export function stepsOf(stats: Readonly<Record<string, number>>): { title: string; ms: number }[] {
  return STEPS.flatMap(([title, names]) => {
    const known = names.flatMap((name) => stats[name] ?? []);
    return known.length === 0 ? [] : [{ title, ms: known.reduce((sum, ms) => sum + ms, 0) }];
  });
}
