import { expect, test } from "vitest";
import { sentence } from "./sentence";

test.each([
  ["stopped after 1.5 s, the limit of this run", "Stopped after 1.5 s, the limit of this run."],
  ["did you mean `a`?", "Did you mean `a`?"],
  ["`categry` is missing", "`categry` is missing."],
  ["", ""],
])("%s", (given, said) => expect(sentence(given)).toBe(said));
