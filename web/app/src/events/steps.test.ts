import { expect, test } from "vitest";
import { reduce, stopped } from "./reduce";
import { newestStatus } from "./steps";
import { newTurn, type Turn } from "./turn";

const told = (...events: unknown[]) => events.reduce<Turn>(reduce, newTurn("Why?"));
const thought = (text: string) => ({ type: "thought", text });
const code = (step: number | null, run_id: string | null, text = "x") => ({
  type: "code",
  step,
  run_id,
  code: text,
});
const run = (run_id: string, status: string) => ({ type: "run", run_id, status });
const log = (run_id: string | null, text: string) => ({ type: "log", run_id, text });

test("a step that fails is tried again, the next one follows", () => {
  const turn = told(
    { type: "plan", plan: { steps: ["Load", { title: "Compare" }] }, reading: "" },
    thought("Planning…"),
    thought("Load the orders first."),
    code(1, "run_1", "a"),
    run("run_1", "running"),
    log("run_1", "24 rows"),
    run("run_1", "failed"),
    thought("The column is called total."),
    thought("Running…"),
    code(1, "run_2", "b"),
    run("run_2", "succeeded"),
    code(2, "run_3", "c"),
    run("run_3", "running"),
  );
  expect(turn.steps).toEqual([
    {
      number: 1,
      goal: "Load",
      attempts: [
        {
          runId: "run_1",
          thought: "Load the orders first.",
          code: "a",
          status: "failed",
          output: ["24 rows"],
        },
        {
          runId: "run_2",
          thought: "The column is called total.",
          code: "b",
          status: "succeeded",
          output: [],
        },
      ],
    },
    {
      number: 2,
      goal: "Compare",
      attempts: [{ runId: "run_3", thought: "", code: "c", status: "running", output: [] }],
    },
  ]);
  expect(turn.steps.map(newestStatus)).toEqual(["succeeded", "running"]);
});

test("code that is told before its run gets the run that begins", () => {
  const turn = told(code(null, null), run("run_1", "pending"), run("run_1", "succeeded"));
  expect(turn.steps[0]?.attempts).toMatchObject([{ runId: "run_1", status: "succeeded" }]);
});

test("code that is told twice is one attempt", () => {
  expect(told(code(1, "run_1"), code(1, "run_1")).steps[0]?.attempts).toHaveLength(1);
});

test("runs and logs of others change no step", () => {
  const turn = told(code(1, "run_1"), run("run_1", "succeeded"));
  const after = [run("run_9", "failed"), log("run_9", "x"), log(null, "y")].reduce<Turn>(reduce, turn);
  expect(after.steps).toBe(turn.steps);
  expect(after.logs).toEqual(["x", "y"]);
});

test("stopping stops the step under way", () => {
  const turn = stopped(
    told(code(1, "run_1"), run("run_1", "succeeded"), code(2, "run_2"), run("run_2", "running")),
  );
  expect(turn.steps.map(newestStatus)).toEqual(["succeeded", "cancelled"]);
});

test("artifacts come in order, and the newest of a name holds", () => {
  const note = (id: string, text: string) => ({
    type: "artifact",
    run_id: "run_1",
    artifact: { id, kind: "markdown", title: "", text },
  });
  const turn = told(note("markdown-1", "a"), note("markdown-2", "b"), note("markdown-1", "c"));
  expect(turn.artifacts.map((one) => (one.kind === "markdown" ? one.text : ""))).toEqual(["c", "b"]);
});

test.each([
  ["no artifact", { type: "artifact", run_id: "run_1" }],
  ["an unknown kind", { type: "artifact", run_id: "run_1", artifact: { id: "x-1", kind: "x" } }],
  [
    "rows that are none",
    { type: "artifact", artifact: { id: "table-1", kind: "table", columns: [], rows: [7] } },
  ],
  [
    "a figure that is none",
    { type: "artifact", artifact: { id: "plot-1", kind: "plot", format: "plotly", figure: [] } },
  ],
])("%s leaves the turn as it is", (_, event) => {
  const turn = newTurn("Why?");
  expect(reduce(turn, event)).toBe(turn);
});
