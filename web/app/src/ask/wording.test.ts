import { expect, test } from "vitest";
import type { DatasetSummary, RunStatus } from "~/api/model";
import { newTurn, type Turn } from "~/events/turn";
import { choose } from "./chosen_dataset";
import { newId } from "./ids";
import { refusedParts, words } from "./not_answered";
import type { Live } from "./session_state";
import { isSealed, statusOf } from "./status_line";
import { about } from "./welcome";
import { chartTitle, doing, shortRun, shortVersion, spoken } from "./wording";

const turn = (change: Partial<Turn>): Turn => ({ ...newTurn("Why?"), ...change });
const live: Live = { threadRunId: "r", since: 0, stopping: false, lost: false };
const run = (status: RunStatus) => ({ id: "run_1", status, execTimeMs: null });

test.each<[string, Partial<Turn>, Partial<Live>, string]>([
  ["nothing yet", {}, {}, "sending"],
  ["a thought", { thoughts: ["Reading the question…"] }, {}, "reading the question"],
  [
    "a step, not what its author thinks",
    { thoughts: ["Writing code for step 2 of 3, again: Sum: all…", "I sum."] },
    {},
    "writing code for step 2 of 3, again",
  ],
  ["in line", { run: run("pending") }, {}, "waiting for a sandbox"],
  ["running", { run: run("running") }, {}, "sealed sandbox"],
  ["rows are there", { run: run("succeeded"), text: "Eu" }, {}, "writing the answer"],
  ["stopping", { run: run("running") }, { stopping: true }, "stopping"],
  ["cut off", { run: run("running") }, { lost: true }, "connection lost, connecting again"],
])("what is happening: %s", (_, of, how, said) => {
  expect(doing(turn(of), { ...live, ...how })).toBe(said);
});

test("a chart is titled by what was computed and its time, else by the question", () => {
  const part = { source: "words" as const, words: [], choices: [] };
  const parts = [
    { ...part, kind: "by" as const, label: "region" },
    { ...part, kind: "when" as const, label: "in 2025" },
  ];
  const readAs = { question: "", parts, aside: [], unread: [], joins: [], trust: [] };
  expect(chartTitle("Revenue by region, 2025", true, turn({ readAs }))).toBe("Revenue by region, 2025");
  expect(chartTitle("Revenue by region", false, turn({ readAs }))).toBe("Revenue by region, in 2025");
  expect(chartTitle("Revenue by region", false, turn({}))).toBe("Revenue by region");
  expect(chartTitle("", true, turn({ readAs }))).toBe("Why?");
});

test.each<[Partial<Turn>, string | null]>([
  [{ ending: "answered", run: run("succeeded") }, "succeeded"],
  [{ ending: "asked" }, null],
  [{ ending: "conversed" }, null],
  [{ ending: "refused" }, "rejected"],
  [{ ending: "failed", run: run("running") }, "failed"],
  [{ ending: "waiting" }, "pending"],
  [{ ending: "stopped" }, "cancelled"],
])("the word for %o is %s", (of, word) => {
  expect(statusOf(turn(of))).toBe(word);
});

test.each<[Partial<Turn>, boolean]>([
  [{ ending: "answered", run: run("succeeded") }, true],
  [{ ending: "refused", run: run("rejected") }, true],
  [{ ending: "failed", run: run("running") }, false],
  [{ ending: "refused" }, false],
  [{ ending: "asked" }, false],
])("%o is sealed: %s", (of, sealed) => expect(isSealed(turn(of))).toBe(sealed));

test("what the chips offer is not said twice", () => {
  const text = "I did not understand *x*.\n\nYou could ask:\n- A\n- B";
  expect(spoken(turn({ text, suggestions: ["A", "B"] }))).toBe("I did not understand *x*.");
  expect(spoken(turn({ text, suggestions: ["A"] }))).toBe(text);
  const plan = { table: "orders" };
  const choices = ["C", "D"].map((label) => ({ label, message: `Read it as “${label}”`, plan }));
  const asked = `Not sure.\n\nWhich of these do you mean?\n1. C\n2. D\n\nYou could ask:\n- A`;
  expect(spoken(turn({ text: asked, suggestions: ["A"], choices }))).toBe("Not sure.");
  expect(spoken(turn({ text: asked, suggestions: ["A"] }))).toContain("1. C\n2. D");
  expect(spoken(turn({ text: "12.8 % overall" }))).toBe("12.8\u00a0% overall");
});

test("a note on who answered is said, the table and the reading are not", () => {
  const note = "*The built-in planner answered this, because openai:gpt-5 could not be reached.*";
  const text = `Europe has 5.\n\n${note}\n\n| a | b |\n| --- | --- |\n\n*Read as: revenue*`;
  expect(spoken(turn({ text }))).toBe(`Europe has 5.\n\n${note}`);
});

test.each<[string, Partial<Turn>, string]>([
  ["the message", { text: "Refused.", problem: { code: "X", message: "m" } }, "Refused."],
  ["the problem", { problem: { code: "X", message: "m", suggestion: "s" } }, "M.\n\nS."],
  ["not half a sentence", { text: "Eur", problem: { code: "NETWORK", message: "m" } }, "M."],
  ["no tags", { text: "It failed.\n\n[[table-1]]", ending: "failed" }, "It failed."],
  ["nothing known", {}, "There is no answer."],
])("why there is no answer: %s", (_, of, said) => {
  expect(words(turn(of))).toBe(said);
});

const dataset = (id: string): DatasetSummary => ({
  id,
  title: id,
  description: "",
  version: "sha256:f9847bcd0c1b",
  as_of: "2025-12-31",
  prompts: [],
  own: false,
  owner: "",
  copied: false,
  live: false,
  tables: [
    { name: "a", description: "", rows: 9000, columns: 1 },
    { name: "b", description: "", rows: 172, columns: 1 },
  ],
});

test.each([
  ["b", "a", "b"],
  [null, "b", "b"],
  ["gone", "gone too", "a"],
])("asked for %s, last %s: %s", (asked, last, id) => {
  expect(choose([dataset("a"), dataset("b")], asked, last)?.id).toBe(id);
  expect(choose([], asked, last)).toBeNull();
});

test("one line on what the data is", () => {
  expect(about(dataset("a"), "en-GB")).toBe(
    "2 tables with 9,172 rows · as of 31 Dec 2025 · version f9847bcd",
  );
});

test("short names", () => {
  expect(shortRun("run_01a1de62684900000054271a8b6dc201")).toBe("01a1de6268");
  expect(shortVersion("sha256:f9847bcd0c1b813a")).toBe("f9847bcd");
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test.each<[string, Record<string, unknown>, [string, string, string] | null]>([
  ["its place", { position: 10, length: 4 }, ["SELECT 1; ", "DROP", " TABLE a"]],
  ["no place", {}, null],
  ["a place outside the text", { position: 20, length: 9 }, null],
])("the refused construct: %s", (_, details, parts) => {
  const problem = { code: "SQL_POLICY_VIOLATION", message: "", details };
  expect(refusedParts(turn({ sql: "SELECT 1; DROP TABLE a", ending: "refused", problem }))).toEqual(parts);
});
