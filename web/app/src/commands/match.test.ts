import { expect, test } from "vitest";
import { match } from "./match";

const DATA = "Data: Sensor readings";

test.each([
  ["nothing typed fits all", "Search commands", "", [], 1],
  ["the beginning", "Search commands", "sea", [], 1],
  ["the beginning of a word", DATA, "sens", [], 0.8],
  ["letters that are scattered do not fit", "Search commands", "sens", [], 0],
  ["inside a word", DATA, "ensor", [], 0.6],
  ["a word beside the title", DATA, "devices", ["sensors devices"], 0.4],
  ["every word must fit", DATA, "sensor orders", [], 0],
] as const)("%s", (_, title, typed, beside, score) => {
  expect(match(title, typed, beside)).toBe(score);
});
