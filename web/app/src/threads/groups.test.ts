import { expect, test } from "vitest";
import { type Thread, titleOf } from "~/api/threads";
import { found, groupedByDay } from "./groups";

const thread = (id: string, updated: Date, question = id, title?: string): Thread => ({
  thread_id: id,
  created_at: updated.toISOString(),
  updated_at: updated.toISOString(),
  status: "idle",
  metadata: title ? { title } : {},
  values: question ? { messages: [{ id: "m", type: "human", content: question }] } : null,
});
// Made in the viewer's own zone, as the grouping is.
const now = new Date(2026, 2, 10, 0, 30);
const at = (day: number, hour: number, minute = 0) => new Date(2026, 2, day, hour, minute);

test("days are the viewer's, newest first, empty ones left out", () => {
  const given = [
    thread("week", at(4, 12)),
    thread("late yesterday", at(9, 23, 59)),
    thread("today", at(10, 0, 1)),
    thread("early yesterday", at(9, 0)),
  ];
  const groups = groupedByDay(given, now).map((group) => [
    group.day,
    group.threads.map((one) => one.thread_id),
  ]);
  expect(groups).toEqual([
    ["Today", ["today"]],
    ["Yesterday", ["late yesterday", "early yesterday"]],
    ["Previous 7 days", ["week"]],
  ]);
  expect(groupedByDay([thread("old", at(1, 0))], now)[0]?.day).toBe("Older");
  expect(groupedByDay([], now)).toEqual([]);
});

test.each([
  ["", ["a", "b"]],
  ["REVENUE", ["a", "b"]],
  ["revenue month", ["a"]],
  ["germany", ["b"]],
  ["nothing like it", []],
])("search for %o", (text, ids) => {
  const given = [
    thread("a", now, "Monthly revenue"),
    thread("b", now, "Revenue by country", "Germany only"),
    thread("never asked", now, ""),
  ];
  expect(found(given, text).map((one) => one.thread_id)).toEqual(ids);
});

test.each<[string, Thread, string]>([
  ["no answer", thread("a", now, "revenue pls"), "revenue pls"],
  ["an answer, or a name of its own", thread("a", now, "revenue pls", "Revenue, 2025"), "Revenue, 2025"],
  ["nothing", thread("a", now, ""), "New conversation"],
])("a thread with %s has its title", (_, given, title) => {
  expect(titleOf(given)).toBe(title);
});

test("a thread is found by what was typed, also when its title says what was computed", () => {
  const given = [thread("a", now, "how did we do in the north", "Revenue by region, 2025")];
  expect(found(given, "north")).toEqual(given);
  expect(found(given, "revenue 2025")).toEqual(given);
});
