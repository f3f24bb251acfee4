import { expect, test } from "vitest";
import type { User } from "~/api/model";
import { clientName, signsInWith, usersWith } from "./user_words";

const USER: User = {
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
  [{}, "a password"],
  [{ has_password: false }, "nothing"],
  [{ has_password: false, issuer: "https://login.example.org/realms/main" }, "login.example.org"],
  [{ issuer: "https://login.example.org" }, "a password and login.example.org"],
])("a user with %o signs in with %s", (given, said) => {
  expect(signsInWith({ ...USER, ...given })).toBe(said);
});

test("users are found by name and by team", () => {
  const users = [USER, { ...USER, name: "ada", teams: ["research"] }, { ...USER, name: "eve" }];
  expect(usersWith(" B", users).map((user) => user.name)).toEqual(["bob"]);
  expect(usersWith("Resea", users).map((user) => user.name)).toEqual(["ada"]);
  expect(usersWith("", users)).toHaveLength(3);
});

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [`Mozilla/5.0 (Windows NT 10.0) ${WEBKIT} Chrome/126.0 Safari/537.36 Edg/126.0`, "Edge on Windows"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0",
    "Firefox on macOS",
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${WEBKIT} Version/17.5 Safari/604.1`,
    "Safari on iOS",
  ],
  [`Mozilla/5.0 (Linux; Android 14) ${WEBKIT} Chrome/126.0 Mobile Safari/537.36`, "Chrome on Android"],
  ["curl/8.5.0", "curl/8.5.0"],
  ["", "Unknown program"],
])("%s is %s", (given, said) => {
  expect(clientName(given)).toBe(said);
});
