import { expect, test } from "vitest";
import { barOf, timelineOf } from "./timeline";

const RUN = {
  created_at: "2026-01-01T00:00:00.000Z",
  started_at: "2026-01-01T00:00:00.010Z",
  finished_at: "2026-01-01T00:00:00.060Z",
  stats: {
    resolve_ms: 1,
    write_sql_ms: 4,
    judge_ms: 15,
    recall_ms: 1,
    execute_ms: 10,
    seal_ms: 0.1,
    total_ms: 9,
  },
};
const NOW = Date.parse("2026-01-01T00:00:02.000Z");

test("steps follow each other, and the rest is the capsule's", () => {
  expect(timelineOf(RUN, NOW)).toEqual({
    total: 60,
    steps: [
      { name: "Queue", start: 0, ms: 10 },
      { name: "Plan to SQL", start: 10, ms: 5 },
      { name: "Gate", start: 15, ms: 15 },
      { name: "Earlier answers", start: 30, ms: 1 },
      { name: "Sandbox", start: 31, ms: 10 },
      { name: "Capsule", start: 41, ms: 19 },
    ],
  });
});

test("a run that waits has only waited", () => {
  const waiting = { ...RUN, started_at: null, finished_at: null, stats: {} };
  expect(timelineOf(waiting, NOW)).toEqual({ total: 2000, steps: [{ name: "Queue", start: 0, ms: 2000 }] });
});

test("a run under way says so", () => {
  const names = timelineOf({ ...RUN, finished_at: null, stats: {} }, NOW).steps;
  expect(names).toEqual([
    { name: "Queue", start: 0, ms: 10 },
    { name: "Under way", start: 10, ms: 1990 },
  ]);
});

test("cancelled while it waited: no step that never was", () => {
  const { steps, total } = timelineOf({ ...RUN, started_at: null, stats: {} }, NOW);
  expect([steps.map((step) => step.name), total]).toEqual([["Queue"], 60]);
});

test("a refused run ends at the gate", () => {
  const refused = {
    ...RUN,
    finished_at: "2026-01-01T00:00:00.030Z",
    stats: { resolve_ms: 0.2, judge_ms: 19.8 },
  };
  expect(timelineOf(refused, NOW).steps.map((step) => step.name)).toEqual(["Queue", "Plan to SQL", "Gate"]);
});

test("steps that add up to more than the clock says fit all the same", () => {
  const { steps, total } = timelineOf({ ...RUN, finished_at: "2026-01-01T00:00:00.020Z" }, NOW);
  expect(total).toBe(41);
  for (const step of steps) {
    const { left, width } = barOf(step, total);
    expect(left + width).toBeLessThanOrEqual(100);
    expect(width).toBeGreaterThan(0);
  }
});

test("no time at all draws nothing", () =>
  expect(barOf({ name: "", start: 0, ms: 0 }, 0)).toEqual({ left: 0, width: 0 }));
