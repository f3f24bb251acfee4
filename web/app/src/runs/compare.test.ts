import { describe, expect, it } from "vitest";
import type { ColumnType } from "~/api/model";
import { digestsOf } from "./digests";
import { clauseLines, lineDiff } from "./line_diff";
import { asDays, resultDiff, sameCell, totalsOf } from "./result_diff";

describe("lineDiff", () => {
  const said = (a: string, b: string) =>
    lineDiff(a, b).map(({ kind, text }) => ({ same: " ", removed: "-", added: "+" })[kind] + text);
  it.each([
    ["a\nb", "a\nb", [" a", " b"]],
    ["", "a", ["+a"]],
    ["a", "", ["-a"]],
    ["", "", []],
    ["a\nb\nc", "a\nx\nc", [" a", "-b", "+x", " c"]],
    ["a\nb\nc\nd", "b\nd\ne", ["-a", " b", "-c", " d", "+e"]],
    ["a\na", "a", [" a", "-a"]],
  ])("%j to %j", (a, b, wanted) => {
    expect(said(a, b)).toEqual(wanted);
  });
  it("gives both texts back", () => {
    const a = Array.from({ length: 60 }, (_, n) => String((n * 7) % 11)).join("\n");
    const b = Array.from({ length: 50 }, (_, n) => String((n * 5) % 11)).join("\n");
    const found = lineDiff(a, b);
    const text = (...kinds: string[]) =>
      found
        .filter(({ kind }) => kinds.includes(kind))
        .map((one) => one.text)
        .join("\n");
    expect(text("same", "removed")).toBe(a);
    expect(text("same", "added")).toBe(b);
  });
});

describe("clauseLines", () => {
  it.each([
    ["SELECT a FROM t WHERE x = 1 ORDER BY a LIMIT 3", "SELECT a\nFROM t\nWHERE x = 1\nORDER BY a\nLIMIT 3"],
    ["SELECT ' from x' FROM t", "SELECT ' from x'\nFROM t"],
    ["SELECT a FROM t LEFT JOIN u ON 1 = 1", "SELECT a\nFROM t\nLEFT JOIN u ON 1 = 1"],
    ["SELECT a\nFROM t", "SELECT a\nFROM t"],
  ])("%s", (sql, wanted) => {
    expect(clauseLines(sql)).toBe(wanted);
  });
});

const column = (name: string, kind: ColumnType, unit = "") => ({ name, type: "", kind, unit });
const name = column("k", "text");
const measure = column("n", "integer");
const rate = column("r", "float");

describe("resultDiff", () => {
  it.each([
    {
      title: "the same",
      a: { columns: [name, measure], rows: [["x", 1]] },
      b: { columns: [name, measure], rows: [["x", 1]] },
      keys: ["k"],
      kinds: ["same"],
    },
    {
      title: "changed, gone and new, matched by key in any order",
      a: {
        columns: [name, measure],
        rows: [
          ["x", 1],
          ["y", 2],
          ["z", 3],
        ],
      },
      b: {
        columns: [name, measure],
        rows: [
          ["z", 4],
          ["x", 1],
          ["w", 9],
        ],
      },
      keys: ["k"],
      kinds: ["same", "onlyA", "changed", "onlyB"],
    },
    {
      title: "columns in another order, and further ones",
      a: { columns: [name, measure], rows: [["x", 1]] },
      b: { columns: [rate, measure, name], rows: [[0.5, 1, "x"]] },
      keys: ["k"],
      kinds: ["same"],
    },
    {
      title: "names that are not unique: whole rows, each counted",
      a: {
        columns: [name, measure],
        rows: [
          ["x", 1],
          ["x", 1],
          ["x", 2],
          ["y", 2],
        ],
      },
      b: {
        columns: [name, measure],
        rows: [
          ["x", 1],
          ["x", 2],
          ["y", 2],
          ["y", 2],
        ],
      },
      keys: [],
      kinds: ["same", "onlyA", "same", "same", "onlyB"],
    },
    {
      title: "numbers only, named by the first that tells them apart",
      a: {
        columns: [measure, rate],
        rows: [
          [1, 0.1],
          [2, 0.1],
        ],
      },
      b: {
        columns: [measure, rate],
        rows: [
          [1, 0.1],
          [2, 0.2],
        ],
      },
      keys: ["n"],
      kinds: ["same", "changed"],
    },
    {
      title: "one column of names: it is the whole row, and no key",
      a: { columns: [name], rows: [["x"], ["y"]] },
      b: { columns: [name], rows: [["y"], ["z"]] },
      keys: [],
      kinds: ["onlyA", "same", "onlyB"],
    },
    {
      title: "nothing in common",
      a: { columns: [name], rows: [["x"]] },
      b: { columns: [measure], rows: [[1]] },
      keys: [],
      kinds: [],
    },
    {
      title: "empty on one side",
      a: { columns: [name, measure], rows: [] },
      b: { columns: [name, measure], rows: [["x", 1]] },
      keys: ["k"],
      kinds: ["onlyB"],
    },
  ])("$title", ({ a, b, keys, kinds }) => {
    const found = resultDiff(a, b);
    expect(found.keys).toEqual(keys);
    expect(found.rows.map(({ kind }) => kind)).toEqual(kinds);
    expect(Object.values(found.counts).reduce((sum, n) => sum + n, 0)).toBe(kinds.length);
  });
  it("names the cells that changed and the columns of one side", () => {
    const found = resultDiff(
      { columns: [name, measure], rows: [["x", 1]] },
      { columns: [name, measure, rate], rows: [["x", 2, 0.5]] },
    );
    expect(found.rows[0]).toMatchObject({ kind: "changed", cells: ["n"] });
    expect([found.onlyInA, found.onlyInB]).toEqual([[], ["r"]]);
  });
  it("keeps a unit that both sides know", () => {
    const share = column("r", "float", "fraction");
    const unit = (b: typeof share) =>
      resultDiff({ columns: [share], rows: [] }, { columns: [b], rows: [] }).columns[0]?.unit;
    expect([unit(share), unit(rate)]).toEqual(["fraction", ""]);
  });
});

describe("sameCell", () => {
  it.each<[unknown, unknown, ColumnType, boolean]>([
    [1, 1, "integer", true],
    ["12", 12, "decimal", true],
    [0.1 + 0.2, 0.3, "float", true],
    [0.3, 0.31, "float", false],
    [null, 0, "integer", false],
    [null, null, "integer", true],
    ["9007199254740993", "9007199254740992", "integer", false],
    ["1", 1, "text", false],
  ])("%j and %j as %s", (a, b, kind, wanted) => {
    expect(sameCell(a, b, { kind })).toBe(wanted);
  });
});

describe("totalsOf", () => {
  it("adds up what can be added up", () => {
    const columns = [
      { ...name, a: 0, b: 0 },
      { ...column("orders", "integer"), a: 1, b: 1 },
      { ...column("return_rate", "float"), a: 2, b: 2 },
    ];
    const found = totalsOf(
      columns,
      [
        ["x", 1, 0.5],
        ["y", "2", 0.1],
      ],
      [["x", null, 0.5]],
    );
    expect(found).toEqual([{ ...column("orders", "integer"), a: 3, b: 0 }]);
  });
});

describe("asDays", () => {
  it.each([
    [["2025-01-01T00:00:00"], ["2025-02-01 00:00:00", null], "date"],
    [["2025-01-01T00:00:00"], ["2025-02-01T12:00:00"], "timestamp"],
  ])("%j and %j", (a, b, wanted) => {
    const [days] = asDays(
      [{ ...column("m", "timestamp"), a: 0, b: 0 }],
      a.map((value) => [value]),
      b.map((value) => [value]),
    );
    expect(days?.kind).toBe(wanted);
  });
});

describe("digestsOf", () => {
  const envelope = (value: unknown) => ({ payload: btoa(JSON.stringify(value)) });
  it.each([
    [envelope({ predicate: { digests: { result: "sha256:1", origin: null } } }), { result: "sha256:1" }],
    [envelope({}), {}],
    [{ payload: "%" }, {}],
    [{}, {}],
  ])("%#", (capsule, wanted) => {
    expect(digestsOf(capsule)).toEqual(wanted);
  });
});
