import { describe, expect, it } from "vitest";
import type { MetricSemantics, Semantics } from "~/api/model";
import {
  adding,
  datasetChanges,
  isEdited,
  joinsChanges,
  linesIn,
  listWith,
  metricsChanges,
  NO_EDITS,
  patchOf,
  removing,
  tableChanges,
  wordsIn,
} from "./stating";

const semantics = (part: Partial<Semantics>): Semantics => ({ format: 1, dataset: "", unused: [], ...part });

const FOUND = semantics({
  title: "sales",
  description: "",
  week_start: "monday",
  fiscal_year_start: null,
  tables: {
    sales: {
      description: "",
      synonyms: [],
      time_column: "sold",
      key: [],
      columns: { amount: { unit: "€", synonyms: [], description: "", masked: false, aggregate: null } },
    },
  },
  joins: [{ many: "sales.customer", one: "customers.id" }],
  metrics: {},
});

const edited = (columns: Record<string, Record<string, unknown>>, table = {}) => ({ table, columns });

describe("what is sent", () => {
  it.each([
    ["another title", {}, { title: "Our sales" }, { title: "Our sales" }],
    ["the title of the data again", { title: "Our sales" }, { title: "sales" }, { title: null }],
    ["an emptied description", { description: "All" }, { description: "" }, { description: null }],
    ["a title without any text", {}, { title: "" }, { title: "" }],
    [
      "no fiscal year any more",
      { fiscal_year_start: "april" },
      { fiscal_year_start: "" },
      { fiscal_year_start: null },
    ],
    ["what was said before", { title: "Our sales" }, { title: "Our sales" }, {}],
  ] as const)("of the dataset: %s", (_, stated, edits, changes) => {
    expect(datasetChanges(semantics(stated), FOUND, edits)).toEqual(changes);
  });

  it("of columns: words, masks and units, beside what was said", () => {
    const stated = semantics({ tables: { sales: { columns: { amount: { description: "Paid" } } } } });
    const edits = edited(
      { amount: { unit: "EUR", synonyms: "turnover, takings, ", masked: true } },
      { key: ["amount"] },
    );
    expect(tableChanges(stated, FOUND, "sales", edits)).toEqual({
      tables: {
        sales: {
          key: ["amount"],
          columns: { amount: { unit: "EUR", synonyms: ["turnover", "takings"], masked: true } },
        },
      },
    });
  });

  it("of columns: what the data show is taken back, under the name that the document has", () => {
    const stated = semantics({ tables: { Sales: { columns: { AMOUNT: { unit: "EUR", masked: true } } } } });
    const edits = edited({ amount: { unit: "€", aggregate: "" } });
    expect(tableChanges(stated, FOUND, "sales", edits)).toEqual({
      tables: { Sales: { columns: { AMOUNT: { unit: null } } } },
    });
  });

  it("of joins: all of them, or none when they are those of the data", () => {
    const other = { many: "sales.shop", one: "shops.id" };
    const both = [...(FOUND.joins ?? []), other];
    expect(joinsChanges(semantics({}), FOUND, both)).toEqual({ joins: both });
    expect(joinsChanges(semantics({ joins: both }), FOUND, FOUND.joins ?? [])).toEqual({ joins: null });
    expect(joinsChanges(semantics({}), FOUND, [])).toEqual({ joins: [] });
  });

  it("of metrics: added, replaced and taken away", () => {
    const sum: MetricSemantics = {
      table: "sales",
      description: "",
      synonyms: [],
      numerator: { agg: "sum", column: "amount" },
      format: "number",
    };
    const share = { ...sum, numerator: { agg: "count", where: [] }, denominator: { agg: "count" } };
    expect(metricsChanges(semantics({}), FOUND, { revenue: sum })).toEqual({ metrics: { revenue: sum } });
    const stated = semantics({ metrics: { revenue: share, share } });
    expect(metricsChanges(stated, FOUND, { revenue: sum })).toEqual({
      metrics: {
        share: null,
        revenue: { numerator: { agg: "sum", where: null, column: "amount" }, denominator: null },
      },
    });
    expect(metricsChanges(stated, FOUND, {})).toEqual({ metrics: null });
  });
});

it.each([
  [{ a: 1 }, { a: 1 }, {}],
  [{ a: 1 }, {}, { a: null }],
  [{}, { a: { b: 1 } }, { a: { b: 1 } }],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1, d: [1] } }, { a: { c: null, d: [1] } }],
])("the patch from %j to %j", (before, after, patch) => {
  expect(patchOf(before, after)).toEqual(patch);
});

it("what others add and remove meanwhile stays", () => {
  const edits = adding(removing({ added: {}, removed: [] }, "mine"), "new", 1);
  expect(listWith({ mine: 0, other: 0 }, edits)).toEqual({ other: 0, new: 1 });
  expect(listWith({ theirs: 0 }, edits)).toEqual({ theirs: 0, new: 1 });
  expect(listWith({ mine: 0 }, removing(edits, "new"))).toEqual({});
  expect(listWith({ mine: 0 }, adding(edits, "mine", 2))).toEqual({ mine: 2, new: 1 });
});

it("words are separated by commas", () => {
  expect(wordsIn(" a b , c,, ")).toEqual(["a b", "c"]);
  expect(linesIn(" How many?\n\n Sum, by day \n")).toEqual(["How many?", "Sum, by day"]);
});

it("a table is edited as soon as one of its fields is", () => {
  expect(isEdited(NO_EDITS)).toBe(false);
  expect(isEdited(edited({ amount: {} }))).toBe(false);
  expect(isEdited(edited({ amount: { unit: "" } }))).toBe(true);
  expect(isEdited(edited({}, { key: [] }))).toBe(true);
});
