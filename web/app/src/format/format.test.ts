import { describe, expect, test } from "vitest";
import type { Column, ColumnType } from "~/api/model";
import {
  ago,
  areDays,
  bytes,
  catalogColumn,
  cell,
  compact,
  count,
  date,
  dayOf,
  duration,
  instantsIn,
  isNumeric,
  isShare,
  isTemporal,
  number,
  onTheWall,
  percent,
  time,
} from ".";

const EN = { locale: "en" };
// Intl writes narrow and no-break spaces in some places.
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, " ");

test.each([
  [1234567, {}, "1,234,567"],
  [0, {}, "0"],
  [14.236, {}, "14.24"],
  [0.24994105, {}, "0.2499"],
  [0.000012345, {}, "0.00001235"],
  [123456.789, {}, "123,456.8"],
  [1234.5, { unit: "EUR" }, "€1,234.50"],
  [1200, { unit: "EUR" }, "€1,200"],
  [21.5, { unit: "°C" }, "21.5 °C"],
  [57.25, { unit: "%" }, "57.3 %"],
  [-3.1234, { digits: 1 }, "-3.1"],
  ["9007199254740993", {}, "9,007,199,254,740,993"],
  ["12345678901234567.89", {}, "12,345,678,901,234,567.89"],
  ["NaN", {}, "NaN"],
  ["Infinity", {}, "Infinity"],
  [null, {}, "–"],
  [undefined, {}, "–"],
])("number %s %o", (value, options, expected) => {
  expect(plain(number(value, { ...EN, ...options }))).toBe(expected);
});

test.each([
  [0.142, "14.2 %"],
  [1, "100.0 %"],
  [0, "0.0 %"],
  [null, "–"],
  ["NaN", "NaN"],
])("percent %s", (value, expected) => expect(percent(value, EN)).toBe(expected));

test.each([
  [12345, "12.3K"],
  [999, "999"],
  [4200000, "4.2M"],
])("compact %s", (value, expected) => expect(compact(value, EN)).toBe(expected));

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1500, "1.5 kB"],
  [128_000_000, "128 MB"],
  [null, "–"],
])("bytes %s", (value, expected) => expect(bytes(value, EN)).toBe(expected));

test.each([
  [0.4, "0.4 ms"],
  [6.2, "6 ms"],
  [999.4, "999 ms"],
  [999.6, "1 s"],
  [1240, "1.2 s"],
  [59_990, "1 min"],
  [125_000, "2 min 5 s"],
  [3_600_000, "1 h"],
  [5_400_000, "1 h 30 min"],
  [null, "–"],
])("duration %s", (value, expected) => expect(duration(value)).toBe(expected));

test("count", () => {
  expect(count(1, "row")).toBe("1 row");
  expect(count(0, "row")).toBe("0 rows");
  expect(count(2, "query", "queries")).toBe("2 queries");
});

describe("dates and times", () => {
  test.each([["2024-01-31", "Jan 31, 2024"]])("a day is the same everywhere: %s", (value, expected) => {
    expect(date(value, EN)).toEqual({ text: expected, raw: value });
  });
  test.each([
    ["2024-06-01T22:30:00Z", "Asia/Tokyo", "Jun 2, 2024, 7:30 AM"],
    ["2024-06-01T22:30:00+02:00", "UTC", "Jun 1, 2024, 8:30 PM"],
    ["2024-06-01T22:30:00.123456+00:00", "UTC", "Jun 1, 2024, 10:30 PM"],
    ["2024-06-01T22:30:00", "Asia/Tokyo", "Jun 1, 2024, 10:30 PM"],
    ["2024-06-01", "Asia/Tokyo", "Jun 1, 2024"],
    ["infinity", "UTC", "infinity"],
  ])("%s in %s", (value, timeZone, expected) => {
    const shown = time(value, { ...EN, timeZone });
    expect(plain(shown.text)).toBe(expected);
    expect(shown.raw).toBe(value);
  });
  const NEW_YORK = { timeZone: "America/New_York", locale: "en-GB" };
  test.each([
    [
      "The latest is 1 June 2025, 20:30 UTC.",
      "The latest is 1 June 2025 at 16:30.",
      ["1 June 2025, 20:30 UTC"],
    ],
    ["On 1 January 2025, 00:00:05 UTC", "On 31 December 2024 at 19:00:05", ["1 January 2025, 00:00:05 UTC"]],
    ["2025-06-01T20:30:00Z, 2025-06-01 20:30 UTC", "1 June 2025 at 16:30, 1 June 2025 at 16:30", 2],
    ["2025-06-01T22:30:00+02:00", "1 June 2025 at 16:30", 1],
    // The data's own clock, days, months and hours are nobody's zone.
    ["The latest is 1 June 2025, 20:30.", null, 0],
    ["In June 2025, on 1 June 2025, at 14:00 and on 2025-06-01", null, 0],
    ["Version 2025-06-01T20:30:00", null, 0],
    ["On 99 June 2025, 20:30 UTC", null, 0],
    ["", null, 0],
  ])("a sentence: %s", (text, expected, raws) => {
    const pieces = instantsIn(text, NEW_YORK);
    const said = pieces.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("");
    expect(plain(said)).toBe(expected ?? text);
    const found = pieces.filter((piece) => typeof piece !== "string").map((piece) => piece.raw);
    expect(Array.isArray(raws) ? found : found.length).toEqual(raws);
  });
  test("a sentence stays English", () => {
    const [, piece] = instantsIn("at 1 June 2025, 20:30 UTC", { timeZone: "UTC", locale: "de-DE" });
    expect(piece).toMatchObject({ text: "1 June 2025 at 20:30" });
  });
  test.each([
    ["2025-06-01T20:30:00+00:00", "2025-06-01T16:30:00"],
    ["2025-01-01T00:30:00Z", "2024-12-31T19:30:00"],
    ["2025-06-01T20:30:00", "2025-06-01T20:30:00"],
    ["2025-06-01", "2025-06-01"],
    [null, null],
    [7, 7],
  ])("the wall clock at %s", (value, expected) => expect(onTheWall(value, NEW_YORK)).toBe(expected));
  test.each([
    [["2025-06-01T00:00:00", "2025-07-01T00:00:00", null], true],
    [["2025-06-01T00:00:00+00:00", "2025-07-01T00:00:00Z"], true],
    [["2025-06-01T00:00:00+02:00"], false],
    [["2025-06-01T00:00:00Z", "2025-06-01T10:00:00Z"], false],
  ])("days: %s", (cells, expected) => expect(areDays(cells)).toBe(expected));
  const now = new Date(2026, 4, 10, 9, 0);
  test.each([
    [new Date(2026, 4, 10, 0, 5), "Today"],
    [new Date(2026, 4, 9, 23, 55), "Yesterday"],
    [new Date(2026, 4, 4, 12), "Previous 7 days"],
    [new Date(2026, 3, 1), "Older"],
  ])("%s", (then, expected) => expect(dayOf(then.toISOString(), now)).toBe(expected));
  test.each([
    [20_000, "just now"],
    [5 * 60_000, "5 min ago"],
    [3 * 3_600_000, "3 h ago"],
  ])("%s ms ago", (past, expected) => {
    expect(ago(new Date(now.getTime() - past).toISOString(), now.getTime()).text).toBe(expected);
  });
});

test.each([
  [null, { name: "n", kind: "integer" as const }, { text: "–", align: "right", empty: true }],
  [
    0.1424,
    { name: "rate", kind: "float" as const, unit: "fraction" },
    { text: "14.2 %", title: "0.1424", align: "right" },
  ],
  [12345, { name: "order_id", kind: "integer" as const }, { text: "12345", align: "right" }],
  [15.6, { name: "rate", kind: "float" as const, unit: "%" }, { text: "15.6 %" }],
  ["0.156", { name: "rate", kind: "decimal" as const, unit: "fraction" }, { text: "15.6 %" }],
  [2024, { name: "year", kind: "integer" as const }, { text: "2024" }],
  [12345, { name: "paid", kind: "integer" as const }, { text: "12,345", title: "12345" }],
  [true, { name: "returned", kind: "boolean" as const }, { text: "yes", align: "left" }],
  [[1, 2], { name: "list", kind: "other" as const }, { text: "[1,2]" }],
  ["Home", { name: "category", kind: "text" as const }, { text: "Home", empty: false }],
])("cell %s of %o", (value, column, expected) => expect(cell(value, column)).toMatchObject(expected));

test.each<[ColumnType, boolean, boolean, boolean]>([
  ["integer", true, false, true],
  ["decimal", true, false, true],
  ["float", true, false, true],
  ["date", false, true, false],
  ["timestamp", false, true, false],
  ["time", false, false, false],
  ["text", false, false, false],
  ["boolean", false, false, false],
  ["other", false, false, false],
])("a column of kind %s", (kind, numeric, temporal, share) => {
  const column = { kind, unit: "fraction" };
  expect([isNumeric(column), isTemporal(column), isShare(column)]).toEqual([numeric, temporal, share]);
  expect(isShare({ kind })).toBe(false);
});

test("a column of the catalog is shown by its logical type and its unit", () => {
  const known: Column = {
    name: "discount",
    type: "float",
    sql_type: "exact type",
    unit: "fraction",
    description: "",
    synonyms: [],
    masked: false,
    nullable: false,
  };
  const column = catalogColumn(known);
  expect(column).toEqual({ name: "discount", kind: "float", unit: "fraction", type: "exact type" });
  expect(cell(0.15, column).text).toBe("15.0 %");
});
