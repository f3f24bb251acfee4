import { expect, test } from "vitest";
import type { ConversationState } from "~/api/wire";
import { reduce, stopped } from "./reduce";
import { turnsFromState } from "./restore";
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
    thought("Looking at the error…"),
    thought("The column is called total."),
    thought("Writing code, again…"),
    thought("Now with the right name."),
    code(1, "run_2", "b"),
    run("run_2", "succeeded"),
    code(2, "run_3", "c"),
    run("run_3", "running"),
  );
  expect(turn.steps).toMatchObject([
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
          diagnosis: "The column is called total.",
        },
        {
          runId: "run_2",
          thought: "Now with the right name.",
          code: "b",
          status: "succeeded",
          output: [],
          diagnosis: "",
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

test("a diagnosis is no thought of the next code", () => {
  const turn = told(code(1, "run_1"), run("run_1", "failed"), thought("It is wrong."), code(1, "run_2"));
  expect(turn.steps[0]?.attempts).toMatchObject([{ diagnosis: "It is wrong." }, { thought: "" }]);
});

test("code that a person changed before it ran is no second attempt", () => {
  const turn = told(thought("Count."), code(1, null, "a"), code(1, null, "b"), run("run_1", "succeeded"));
  expect(turn.steps[0]?.attempts).toMatchObject([{ code: "b", runId: "run_1", status: "succeeded" }]);
});

test("the goal that comes with the code counts more than the plan's", () => {
  const turn = told(
    { type: "plan", plan: { steps: ["Load"] }, reading: "" },
    { type: "code", step: 2, goal: "Draw a chart", code: "fig" },
  );
  expect(turn.steps[0]?.goal).toBe("Draw a chart");
});

test("the answer is about its main run, and what never ran is not under way", () => {
  const turn = told(
    code(1, "run_1"),
    { type: "run", run_id: "run_1", status: "succeeded", exec_time_ms: 7 },
    code(2, "run_2"),
    run("run_2", "failed"),
    code(3, null),
    { type: "message", text: "Done.", ending: "answered", run_ids: ["run_1"] },
  );
  expect(turn.run).toEqual({ id: "run_1", status: "succeeded", execTimeMs: 7 });
  expect(turn.steps.map(newestStatus)).toEqual(["succeeded", "failed", "cancelled"]);
});

const cell = (id: string, step: number, text: string, status: string): ConversationState["messages"] => [
  {
    id,
    type: "ai",
    content: "",
    tool_calls: [
      { id: `call_${id}`, name: "execute_python", args: { code: text, step, goal: `Goal ${step}` } },
    ],
  },
  {
    id: `${id}-t`,
    type: "tool",
    content: JSON.stringify({
      run_id: `run_${id}`,
      status,
      stdout: status === "failed" ? "" : `out ${id}\n`,
    }),
  },
];
const kept: ConversationState = {
  messages: [
    { id: "q", type: "human", content: "Why?" },
    ...cell("1", 1, "a", "failed"),
    ...cell("2", 1, "b", "succeeded"),
  ],
};

test("the thread's own messages bring the steps back", () => {
  const [turn] = turnsFromState(kept);
  expect(turn?.steps).toMatchObject([
    {
      number: 1,
      goal: "Goal 1",
      attempts: [
        { code: "a", runId: "run_1", status: "failed", output: [] },
        { code: "b", runId: "run_2", status: "succeeded", output: ["out 2\n"] },
      ],
    },
  ]);
});

test.each([
  ["after a step that worked", kept, 2],
  ["after an error", { messages: kept.messages.slice(0, 3) }, 1],
])("code that waits for a person is restored %s", (_, state, number) => {
  const description = "Goal of it\n\n```python\nmine\n```";
  const action = { name: "execute_python", args: { code: "mine" }, description };
  const [turn] = turnsFromState({ ...state, __interrupt__: [{ value: { action_requests: [action] } }] });
  expect(turn).toMatchObject({
    ending: "waiting",
    sql: null,
    waiting: { tool: "execute_python", text: "mine" },
  });
  expect(turn?.steps.at(-1)).toMatchObject({ number });
  expect(turn?.steps.at(-1)?.attempts.at(-1)).toMatchObject({ code: "mine", runId: null, status: null });
  if (number === 2) expect(turn?.steps.at(-1)?.goal).toBe("Goal of it");
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
