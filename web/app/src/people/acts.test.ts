import { expect, test, vi } from "vitest";
import type { User } from "~/api/model";
import { actsOn } from "./acts";

const BOB: User = {
  name: "bob",
  admin: false,
  disabled: false,
  has_password: true,
  must_change_password: false,
  issuer: null,
  teams: [],
  created_at: 1,
  signed_in_at: null,
  keys: 0,
};

test.each([
  ["a user", {}, false, ["promote", "password", "sessions", "disable", "remove"]],
  ["an administrator", { admin: true }, false, ["demote", "password", "sessions", "disable", "remove"]],
  ["a disabled user", { disabled: true }, false, ["promote", "password", "sessions", "enable", "remove"]],
  // One's own password needs the old one.
  ["oneself", { admin: true }, true, ["demote", "sessions", "disable", "remove"]],
])("the acts on %s", (_, given, isSelf, expected) => {
  expect(actsOn({ ...BOB, ...given }, isSelf).map((act) => act.id)).toEqual(expected);
});

test.each([
  ["promote", {}, "PATCH", "/users/bob", { admin: true }],
  ["demote", { admin: true }, "PATCH", "/users/bob", { admin: false }],
  ["password", {}, "PATCH", "/users/bob", { make_password: true }],
  ["sessions", {}, "DELETE", "/users/bob/sessions", null],
  ["disable", {}, "PATCH", "/users/bob", { disabled: true }],
  ["enable", { disabled: true }, "PATCH", "/users/bob", { disabled: false }],
  ["remove", {}, "DELETE", "/users/bob", null],
])("%s sends one request", async (id, given, method, address, body) => {
  const sent = vi.fn(async (_address: string, _init: RequestInit) => new Response("{}"));
  vi.stubGlobal("fetch", sent);
  const act = actsOn({ ...BOB, ...given }, false).find((one) => one.id === id);
  await act?.run();
  vi.unstubAllGlobals();
  expect(sent).toHaveBeenCalledTimes(1);
  const [asked, init] = sent.mock.calls[0] ?? [];
  expect([asked, init?.method, JSON.parse(String(init?.body))]).toEqual([address, method, body]);
});

test("one is warned before one locks oneself out", () => {
  const acts = actsOn({ ...BOB, admin: true }, true);
  expect(acts.find((act) => act.id === "demote")).toMatchObject({ danger: true });
  expect(acts.find((act) => act.id === "disable")?.says).toContain("You are signed out at once");
});
