import { beforeEach, expect, test, vi } from "vitest";
import { Drafts } from "./drafts";

let drafts: Drafts;

beforeEach(() => {
  sessionStorage.clear();
  drafts = new Drafts();
});

test("a draft belongs to its thread, and is there after a reload", () => {
  drafts.set("t1", "half a question");
  expect(["t1", "t2", null].map((id) => drafts.get(id))).toEqual(["half a question", "", ""]);
  expect(new Drafts().get("t1")).toBe("half a question");
  drafts.set("t1", "");
  expect(new Drafts().get("t1")).toBe("");
});

test("what is written beside a new question moves to the thread it becomes", () => {
  drafts.set(null, "and the next one");
  drafts.move("t1");
  expect([drafts.get(null), drafts.get("t1")]).toEqual(["", "and the next one"]);
});

test("nothing written beside it leaves the thread's own draft alone", () => {
  drafts.set("t1", "kept");
  drafts.move("t1");
  expect(drafts.get("t1")).toBe("kept");
});

test("further typing withdraws what waits to be sent", () => {
  const heard = vi.fn();
  drafts.subscribe(heard);
  drafts.set(null, "By region");
  drafts.sendLater(null);
  expect([drafts.waits(null), drafts.waits("t1")]).toEqual([true, false]);
  drafts.set(null, "By region and");
  expect(drafts.waits(null)).toBe(false);
  expect(heard).toHaveBeenCalledTimes(3);
});

test("where storage is forbidden the draft is kept as long as the page", () => {
  const forbidden = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("no", "SecurityError");
  });
  drafts.set(null, "kept");
  expect(drafts.get(null)).toBe("kept");
  forbidden.mockRestore();
});
