import { expect, test } from "vitest";
import { copiedTable, plainText, unhurriedText } from "./clipboard";
import { at, blockOf, type Cursor, moved } from "./cursor";

const SIZE = { rows: 100, columns: 3, page: 10 };
const press = (keys: string) => {
  const parts = keys.split("+");
  return { key: parts.at(-1) ?? "", shift: parts.includes("Shift"), mod: parts.includes("Mod") };
};

test.each<[string, Cursor | null, [number, number] | null]>([
  ["ArrowDown", at(0, 0), [1, 0]],
  ["ArrowUp", at(0, 0), [0, 0]],
  ["ArrowRight", at(0, 2), [0, 2]],
  ["ArrowLeft", at(5, 2), [5, 1]],
  ["PageDown", at(95, 1), [99, 1]],
  ["PageUp", at(5, 1), [0, 1]],
  ["Home", at(5, 2), [5, 0]],
  ["End", at(5, 0), [5, 2]],
  ["Mod+Home", at(5, 2), [0, 0]],
  ["Mod+End", at(5, 0), [99, 2]],
  ["Mod+ArrowDown", at(5, 1), [99, 1]],
  ["x", at(5, 1), null],
])("%s", (keys, from, expected) => {
  const next = moved(from, press(keys), SIZE);
  expect(next && [next.at.row, next.at.column]).toEqual(expected);
  if (next) expect(next.from).toEqual(next.at);
});

test("shift keeps the other corner", () => {
  const wider = moved(moved(at(2, 2), press("Shift+ArrowUp"), SIZE), press("Shift+ArrowLeft"), SIZE);
  expect(wider && blockOf(wider)).toEqual({ top: 1, bottom: 2, left: 1, right: 2 });
  expect(wider && moved(wider, press("Escape"), SIZE)).toEqual(at(1, 1));
});

test("everything can be chosen, and nothing of nothing", () => {
  const all = moved(null, press("Mod+a"), SIZE);
  expect(all && blockOf(all)).toEqual({ top: 0, bottom: 99, left: 0, right: 2 });
  expect(moved(null, press("ArrowDown"), { ...SIZE, rows: 0 })).toBeNull();
});

const text = { name: "note", kind: "text" as const };
const amount = { name: "amount", kind: "integer" as const };

test.each([
  ["values, not what is shown", [["a", 1234]], "a\t1234", "<td>a</td><td>1234</td>"],
  ["nulls are empty", [[null, null]], "\t", "<td></td><td></td>"],
  [
    "tabs, lines and quotes",
    [['a\t"b"\nc', 1]],
    '"a\t""b""\nc"\t1',
    "<td>a\t&quot;b&quot;\nc</td><td>1</td>",
  ],
  ["tags are text", [["<b>", 1]], "<b>\t1", "<td>&lt;b&gt;</td><td>1</td>"],
  ["formulas do not run", [["=1+1", -1]], "'=1+1\t-1", "<td>'=1+1</td><td>-1</td>"],
])("copied: %s", (_, rows, expected, html) => {
  const copied = copiedTable({ columns: [text, amount], rows, header: true });
  expect(copied.text).toBe(`note\tamount\n${expected}`);
  expect(copied.html).toBe(`<table><tr><th>note</th><th>amount</th></tr><tr>${html}</tr></table>`);
});

test("one value is copied as it is", () => {
  expect([null, "=1", 5, [1, 2]].map(plainText)).toEqual(["", "=1", "5", "[1,2]"]);
});

test("a large table is written down in pieces, and others have their turn in between", async () => {
  const rows = Array.from({ length: 4000 }, (_, n) => Array.from({ length: 50 }, (_, at) => `${n} ${at}`));
  const columns = Array.from({ length: 50 }, (_, at) => ({ name: `c${at}`, kind: "text" as const }));
  const block = { columns, rows, header: true };
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  const written = await (await unhurriedText(block)).text();
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
  const lines = written.split("\n");
  expect([lines.length, lines[1]?.split("\t").length, lines.at(-1)?.endsWith("3999 49")]).toEqual([
    4001,
    50,
    true,
  ]);
  expect(copiedTable(block)).toEqual({ html: "", text: written });
});
