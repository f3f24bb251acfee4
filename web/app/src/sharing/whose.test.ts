import { expect, it } from "vitest";
import { whoseOf } from "./whose";

const ANNA = { people: true, user: "anna", teams: [], admin: false };
const ADMIN = { people: true, user: "olga", teams: [], admin: true };
const NO_ONE = { people: false, user: "", teams: [], admin: false };

it.each([
  ["not known yet", undefined, "bob", { people: false, mine: true, sharedBy: null }],
  ["a server without people", NO_ONE, "@127.0.0.1", { people: false, mine: true, sharedBy: null }],
  ["one's own", ANNA, "anna", { people: true, mine: true, sharedBy: null }],
  ["somebody else's", ANNA, "bob", { people: true, mine: false, sharedBy: "bob" }],
  ["everyone's", ANNA, "", { people: true, mine: false, sharedBy: null }],
  ["somebody else's, for an administrator", ADMIN, "bob", { people: true, mine: true, sharedBy: "bob" }],
  ["everyone's, for an administrator", ADMIN, "", { people: true, mine: false, sharedBy: null }],
] as const)("%s", (_, sharing, owner, expected) => {
  expect(whoseOf(sharing && { ...sharing, teams: [...sharing.teams] }, owner)).toEqual(expected);
});
