import { describe, expect, test } from "vitest";
import type { ColumnType, Dataset, Row } from "~/api/model";
import { cell, percent } from "~/format";
import { AS_IT_CAME, arrange, Prepared, quickWords, type View } from "./arrange";
import { describedColumns, kindWord, widthOf } from "./columns";
import { testOf } from "./filter";
import { ranksOf, sortPlaces } from "./order";
import { rowsInWords } from "./words";

const col = (kind: ColumnType, extra = {}) => ({ name: "c", kind, ...extra });

function sorted(kind: ColumnType, values: unknown[], descending = false): unknown[] {
  const rows = values.map((value) => [value]);
  const places = sortPlaces([...rows.keys()], ranksOf(rows, 0, col(kind)), descending);
  return places.map((place) => values[place]);
}

describe("sorting", () => {
  test.each<[string, ColumnType, unknown[], unknown[]]>([
    ["numbers as numbers", "integer", [10, 9, -1, 100], [-1, 9, 10, 100]],
    ["decimals come as text", "decimal", ["10.50", "9.75", "100.00"], ["9.75", "10.50", "100.00"]],
    [
      "long integers keep their last digit",
      "integer",
      ["9007199254740993", "9007199254740992", "9007199254740994"],
      ["9007199254740992", "9007199254740993", "9007199254740994"],
    ],
    [
      "NaN after all numbers",
      "float",
      ["NaN", 1, "-Infinity", "Infinity"],
      ["-Infinity", 1, "Infinity", "NaN"],
    ],
    ["text with numbers in it", "text", ["item 10", "item 9", "Item 1"], ["Item 1", "item 9", "item 10"]],
    ["text by the reader's alphabet", "text", ["Zebra", "élan", "apple"], ["apple", "élan", "Zebra"]],
    ["dates", "date", ["2025-01-02", "2024-12-31"], ["2024-12-31", "2025-01-02"]],
    [
      "moments in different zones",
      "timestamp",
      ["2025-01-01T12:00:00+02:00", "2025-01-01T11:00:00Z", "2025-01-01T09:00:00Z"],
      ["2025-01-01T09:00:00Z", "2025-01-01T12:00:00+02:00", "2025-01-01T11:00:00Z"],
    ],
    ["no before yes", "boolean", [true, false], [false, true]],
    ["lists by what they say", "other", [[2], [1, 5]], [[1, 5], [2]]],
  ])("%s", (_, kind, values, expected) => expect(sorted(kind, values)).toEqual(expected));

  test("nulls come last in both directions", () => {
    expect(sorted("integer", [null, 2, null, 1])).toEqual([1, 2, null, null]);
    expect(sorted("integer", [null, 2, null, 1], true)).toEqual([2, 1, null, null]);
  });

  test("equal rows keep the order of the result in both directions", () => {
    const rows: Row[] = [
      ["b", 1],
      ["a", 2],
      ["B", 3],
      ["a", 4],
    ];
    const ranks = ranksOf(rows, 0, col("text"));
    expect(sortPlaces([0, 1, 2, 3], ranks, false)).toEqual([1, 3, 0, 2]);
    expect(sortPlaces([0, 1, 2, 3], ranks, true)).toEqual([0, 2, 1, 3]);
  });
});

describe("filter of a column", () => {
  test.each<[ColumnType, string, unknown, boolean]>([
    ["text", "ele", "Electronics", true],
    ["text", "ele", "Home", false],
    ["text", "=home", "Home", true],
    ["text", "=home", "Home & Kitchen", false],
    ["text", "!home", "Home", false],
    ["text", "!home", null, true],
    ["text", "ele", null, false],
    ["integer", "5", 5, true],
    ["integer", ">5", 5, false],
    ["integer", ">=5", 5, true],
    ["integer", "< 5", 4, true],
    ["integer", "!5", 5, false],
    ["integer", "1..10", 10, true],
    ["integer", "1..10", 11, false],
    ["integer", "5..", 99, true],
    ["integer", "..5", 6, false],
    ["integer", "-3..-1", -2, true],
    ["integer", ">1,000", 1001, true],
    ["decimal", ">9.5", "10.00", true],
    ["integer", ">5", null, false],
    ["integer", "null", null, true],
    ["integer", "null", 0, false],
    ["integer", "!null", 0, true],
    ["date", "2025", "2025-12-31", true],
    ["date", "2025-06", "2025-06-30", true],
    ["date", "2025-06", "2025-07-01", false],
    ["date", ">2025-06", "2025-06-30", false],
    ["date", ">2025-06", "2025-07-01", true],
    ["date", "2025-01-01..2025-03", "2025-03-31", true],
    ["date", "<=2025-02", "2025-02-28", true],
    ["timestamp", "2025-01-02", "2025-01-02T23:59:59", true],
    ["timestamp", ">2025-01-02 12:00", "2025-01-02T12:01:00", true],
    ["timestamp", ">2025-01-02 12:00", "2025-01-02T12:00:30", false],
    ["boolean", "yes", true, true],
    ["boolean", "no", null, false],
  ])("%s: %s on %s is %s", (kind, text, value, expected) => {
    expect(testOf(text, col(kind))?.(value)).toBe(expected);
  });

  test("shares are typed as they are shown", () => {
    const share = col("float", { unit: "fraction" });
    expect(testOf("14.2 %", share)?.(0.1424)).toBe(true);
    expect(testOf(">20", share)?.(0.25)).toBe(true);
    expect(testOf(">0.2", share)?.(0.25)).toBe(true);
    expect(testOf(">20 %", share)?.(0.15)).toBe(false);
  });

  test.each<[ColumnType, string]>([
    ["integer", "abc"],
    ["integer", ">"],
    ["integer", ".."],
    ["integer", "5 %"],
    ["date", "June"],
    ["date", "2025-13"],
    ["boolean", "perhaps"],
  ])("%s cannot be asked for %s", (kind, text) => expect(testOf(text, col(kind))).toBeNull());
});

describe("rows that are shown", () => {
  const columns = [
    col("text"),
    col("decimal", { unit: "EUR" }),
    col("date"),
    col("float", { unit: "fraction" }),
  ];
  const rows: Row[] = [
    ["Shoes", "1234.50", "2025-01-31", 0.142],
    ["Boots", "99.00", "2024-06-01", null],
    ["Socks", null, null, 0.5],
  ];
  const prepared = new Prepared(columns, rows);
  const shown = (view: Partial<View>) => arrange(prepared, { ...AS_IT_CAME, ...view });

  test.each<[string, Partial<View>, number[]]>([
    ["all as they came", {}, [0, 1, 2]],
    ["a word anywhere", { quick: "boo" }, [1]],
    ["a number as it is shown", { quick: "€1,234.50" }, [0]],
    ["a share as it is shown", { quick: percent(0.142) }, [0]],
    ["all words, in any columns", { quick: "shoes 2025" }, [0]],
    ["words of two rows", { quick: "shoes 2024" }, []],
    [
      "a filter and a sorting",
      { filters: [{ at: 1, text: "!null" }], sort: { at: 1, descending: false } },
      [1, 0],
    ],
    [
      "two filters",
      {
        filters: [
          { at: 0, text: "s" },
          { at: 2, text: "2024" },
        ],
      },
      [1],
    ],
    ["what cannot be read holds nothing back", { filters: [{ at: 1, text: ">>" }] }, [0, 1, 2]],
    ["sorted from the highest", { sort: { at: 3, descending: true } }, [2, 0, 1]],
  ])("%s", (_, view, expected) => expect(shown(view)).toEqual(expected));

  test("a number can be typed in several ways", () => {
    expect(quickWords("1,200.50")).toEqual([["1,200.50", "1200.50", "1200.5"]]);
    expect(quickWords("  ")).toEqual([]);
  });
});

test.each([
  [{ shown: 9, here: 9, rowCount: 9, truncated: false }, "9 rows"],
  [{ shown: 1, here: 1, rowCount: 1, truncated: false }, "1 row"],
  [{ shown: 3, here: 9, rowCount: 9, truncated: false }, "3 of 9 rows"],
  [{ shown: 200, here: 200, rowCount: 200, truncated: true }, "Shown: the first 200 rows of more"],
  [{ shown: 20, here: 20, rowCount: 200, truncated: false }, "the first 20 of 200 rows"],
])("%o in words", (rows, expected) => expect(rowsInWords(rows)).toBe(expected));

describe("columns", () => {
  const dataset = {
    tables: [
      {
        name: "t",
        columns: [
          { name: "stock", description: "In the store" },
          { name: "price", description: "" },
        ],
      },
    ],
    metrics: [],
  } as unknown as Pick<Dataset, "tables" | "metrics">;
  const given = [
    { name: "stock", kind: "integer" as const, unit: "units" },
    { name: "price", kind: "decimal" as const, unit: "EUR" },
    { name: "month", kind: "timestamp" as const },
  ];
  const rows: Row[] = [[1, "2.00", "2025-01-01T00:00:00"]];

  test("the header says the unit and the catalog's words", () => {
    const [stock, price, month] = describedColumns(given, dataset, rows);
    expect(stock).toMatchObject({ unit: "units", description: "In the store", cells: { unit: undefined } });
    expect(price?.cells.unit).toBe("EUR");
    expect(month?.cells.kind).toBe("date");
    expect([stock, price, month].map((column) => column && kindWord(column))).toEqual([
      "units",
      "EUR",
      "date",
    ]);
  });

  test("an hour that is not midnight is shown", () => {
    const [, , month] = describedColumns(given, dataset, [...rows, [1, "2", "2025-01-01T06:00:00"]]);
    expect(month?.cells.kind).toBe("timestamp");
  });

  test.each<[ColumnType, string, unknown, string]>([
    ["float", "fraction", 0.15, "percent"],
    ["float", "", 1.5, "number"],
    ["integer", "", 1, "integer"],
    ["text", "", "a", "text"],
    ["time", "", "10:00:00", "text"],
    ["boolean", "", true, "yes or no"],
    ["timestamp", "", "2025-01-01T06:00:00", "time"],
    ["timestamp", "", "2025-01-01T06:00:00+00:00", "time in your zone"],
    ["other", "", [1, 2], "list"],
    ["other", "", { a: 1 }, "value"],
  ])("the word for %s %s", (kind, unit, value, word) => {
    const [column] = describedColumns([{ name: "c", kind, unit }], undefined, [[value]]);
    expect(column && kindWord(column)).toBe(word);
  });

  test("a long text does not push the others away", () => {
    const [column] = describedColumns([{ name: "id", kind: "text" as const }], undefined);
    expect(column && widthOf(column, 0, [["x".repeat(500)]])).toBe(300);
    expect(column && widthOf(column, 0, [["x"]])).toBe(72);
  });
});

test.each<[string, ColumnType, number[], string[]]>([
  ["the same decimals below each other", "float", [3.87, 3.8, 4], ["3.87", "3.80", "4.00"]],
  ["whole numbers stay whole", "float", [1200, 7], ["1,200", "7"]],
  ["small fractions are not cut or filled up", "float", [0.1234, 2.5], ["0.1234", "2.5"]],
])("%s", (_, kind, values, shown) => {
  const rows = values.map((value) => [value]);
  const [column] = describedColumns([{ name: "score", kind }], undefined, rows);
  expect(column && values.map((value) => cell(value, column.cells).text)).toEqual(shown);
});
