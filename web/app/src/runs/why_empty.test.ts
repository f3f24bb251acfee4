import { expect, test } from "vitest";
import type { RunView } from "~/api/model";
import { looksEmpty } from "./why_empty";

const run = (rows: unknown[][] | null, more: Partial<RunView> = {}) =>
  ({ status: "succeeded", mode: "sql", rows, sql: "SELECT 1", ...more }) as RunView;

test("no rows, and one row of nothing, look empty", () => {
  expect(looksEmpty(run([]))).toBe(true);
  expect(looksEmpty(run([[0]]))).toBe(true);
  expect(looksEmpty(run([[null, 0]]))).toBe(true);
});

test("rows, failures, dry runs and Python do not", () => {
  expect(looksEmpty(run([[3]]))).toBe(false);
  expect(looksEmpty(run([[0], [0]]))).toBe(false);
  expect(looksEmpty(run(null))).toBe(false);
  expect(looksEmpty(run([], { status: "failed" }))).toBe(false);
  expect(looksEmpty(run([], { mode: "dry_run" }))).toBe(false);
  expect(looksEmpty(run([], { mode: "python", python: "1" }))).toBe(false);
});
