import { expect, test } from "vitest";
import { classes } from "./classes";

test.each([
  [["text-ink-2", "text-small"], "text-ink-2 text-small"],
  [["text-body", "text-small"], "text-small"],
  [["text-ink-2", "text-danger"], "text-danger"],
  [["px-2", false, "px-3"], "px-3"],
])("%o", (given, expected) => expect(classes(...given)).toBe(expected));
