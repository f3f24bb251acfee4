import { expect, it } from "vitest";
import { Problem } from "~/api/problem";
import { refusedRole } from "./refused";
import { found, inWords, still, toggled, withFirst } from "./tables";

const table = (name: string) => ({ name, kind: "table", rows: 1, columns: 1 });
const TABLES = ["shop.orders", "shop.order_items", "hr.People"].map(table);

it.each([
  ["", ["shop.orders", "shop.order_items", "hr.People"]],
  ["ORDER", ["shop.orders", "shop.order_items"]],
  ["items shop", ["shop.order_items"]],
  ["people", ["hr.People"]],
  ["nothing", []],
])("%j finds %j", (text, names) => {
  expect(found(TABLES, text).map((one) => one.name)).toEqual(names);
});

it("keeps the order of the choice, and each name once", () => {
  expect(toggled(["b"], ["a", "b"], true)).toEqual(["b", "a"]);
  expect(toggled(["b", "a", "c"], ["a", "b"], false)).toEqual(["c"]);
});

it("shows an earlier choice first", () => {
  expect(withFirst(TABLES, ["hr.People"]).map((one) => one.name)[0]).toBe("hr.People");
  expect(withFirst(TABLES, []).length).toBe(3);
});

it.each([
  [["a", "b"], "a, b"],
  [["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d, e and 2 more"],
])("%j in words", (chosen, words) => {
  expect(inWords(chosen)).toBe(words);
});

it("forgets tables that are gone", () => {
  expect(still(["shop.orders", "shop.gone"], TABLES)).toEqual(["shop.orders"]);
});

it.each([
  ["a role that can write", { role: "w", reasons: ["it writes"], grants: ["GRANT"] }, ["GRANT"]],
  ["without statements", { role: "w", reasons: ["it writes"] }, []],
  ["another error", { field: "url" }, null],
  ["no reason", { role: "w", reasons: [] }, null],
  ["no texts", { role: "w", reasons: [1] }, null],
])("%s", (_, details, grants) => {
  const problem = new Problem({ code: "VALIDATION_ERROR", message: "refused", details }, 422);
  expect(refusedRole(problem)?.grants ?? null).toEqual(grants);
});
