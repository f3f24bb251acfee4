import { expect, test } from "vitest";
import type { VerdictView } from "~/api/model";
import { Problem } from "~/api/problem";
import { type CheckAction, type CheckState, isSettled, mayRun, newCheck, reduceCheck } from "./verdict";

const verdict = (decision: VerdictView["verdict"], message = ""): VerdictView => ({
  verdict: decision,
  message,
  tables: [],
  functions: [],
  warnings: [],
  volatile: [],
  fixes: [],
});

const APPROVED = verdict("approved");
const REFUSED = verdict("refused", "There is no table 'oders'.");

const play = (...actions: CheckAction[]): CheckState =>
  actions.reduce(reduceCheck, newCheck("SELECT 1", APPROVED));

test("what the run was told holds until something is typed", () => {
  expect(newCheck("SELECT 1", REFUSED).phase).toBe("refused");
  expect(newCheck("SELECT 1", null).phase).toBe("unknown");
  expect(play({ type: "typed", text: "SELECT 1" }).phase).toBe("approved");
});

test.each<[string, CheckAction[], Partial<CheckState>]>([
  ["typing", [], { phase: "typing", text: "a", serial: 1, verdict: APPROVED, judged: "SELECT 1" }],
  ["checking", [{ type: "started", serial: 1 }], { phase: "checking", verdict: APPROVED }],
  [
    "refused",
    [
      { type: "started", serial: 1 },
      { type: "answered", serial: 1, verdict: REFUSED },
    ],
    { phase: "refused", verdict: REFUSED, judged: "a" },
  ],
  [
    "approved",
    [
      { type: "started", serial: 1 },
      { type: "answered", serial: 1, verdict: APPROVED },
    ],
    { phase: "approved", verdict: APPROVED, judged: "a" },
  ],
  ["unreadable", [{ type: "unreadable", serial: 1 }], { phase: "unreadable", verdict: null }],
])("typing, then %s", (_, actions, expected) => {
  expect(play({ type: "typed", text: "a" }, ...actions)).toMatchObject(expected);
});

test("an answer about an older text is dropped, whatever it says", () => {
  const newest = play(
    { type: "typed", text: "a" },
    { type: "started", serial: 1 },
    { type: "typed", text: "ab" },
  );
  const late: CheckAction[] = [
    { type: "answered", serial: 1, verdict: REFUSED },
    { type: "failed", serial: 1, problem: new Problem({ code: "NETWORK", message: "gone" }) },
    { type: "unreadable", serial: 1 },
    { type: "started", serial: 1 },
  ];
  for (const action of late) expect(reduceCheck(newest, action)).toBe(newest);
});

test("a reset drops what is under way too", () => {
  const reset = play({ type: "typed", text: "a" }, { type: "reset", text: "SELECT 1", verdict: APPROVED });
  expect(reset).toMatchObject({ phase: "approved", text: "SELECT 1" });
  expect(reduceCheck(reset, { type: "answered", serial: 1, verdict: REFUSED })).toBe(reset);
});

test("a check that failed can be tried again", () => {
  const problem = new Problem({ code: "NETWORK", message: "gone" });
  const failed = play({ type: "typed", text: "a" }, { type: "failed", serial: 1, problem });
  expect(failed).toMatchObject({ phase: "failed", problem });
  expect(reduceCheck(failed, { type: "again" })).toMatchObject({ phase: "typing", text: "a", serial: 2 });
});

test.each<[string, CheckAction[], boolean, boolean]>([
  ["approved", [], true, true],
  ["typing", [{ type: "typed", text: "a" }], true, false],
  [
    "refused",
    [
      { type: "typed", text: "a" },
      { type: "answered", serial: 1, verdict: REFUSED },
    ],
    false,
    true,
  ],
  [
    "unreadable",
    [
      { type: "typed", text: "{" },
      { type: "unreadable", serial: 1 },
    ],
    false,
    true,
  ],
  ["empty", [{ type: "typed", text: "  " }], false, false],
])("%s: may it run, is it settled", (_, actions, run, settled) => {
  expect([mayRun(play(...actions)), isSettled(play(...actions))]).toEqual([run, settled]);
});
