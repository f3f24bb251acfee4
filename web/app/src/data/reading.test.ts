import { expect, it } from "vitest";
import type { ColumnReading } from "~/api/model";
import { readAsWords } from "./reading";

it.each([
  [{ read_as: "money", unit: "EUR" }, "money in EUR"],
  [{ read_as: "integer" }, "whole number"],
  [{ read_as: "date" }, "date"],
  [{ read_as: "date", format: "%d/%m/%Y" }, "date, day first"],
  [{ read_as: "date", format: "%m/%d/%y" }, "date, month first"],
  [{ read_as: "timestamp", format: "%d.%m.%Y %H:%M" }, "moment, day first"],
  [{ read_as: "date", format: "%Y/%m/%d" }, "date"],
  [{ read_as: "text" }, "text"],
] as const)("%j is said as %s", (given, words) => {
  expect(readAsWords({ unit: "", format: "", ...given } as unknown as ColumnReading)).toBe(words);
});
