import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { ReadAs, ReadPart } from "~/api/model";
import { Readings, ReadParts } from "./read_parts";

const words = (text: string) => [{ text, start: 0, end: text.length }];
const choice = (label: string) => ({ label, message: `Read it as “${label}”`, plan: { as: label } });
const PARTS: ReadPart[] = [
  {
    kind: "measure",
    label: "total revenue",
    source: "words",
    words: words("sales"),
    choices: [choice("average revenue"), choice("number of orders")],
  },
  { kind: "by", label: "region", source: "kept", words: [], choices: [choice("country")] },
  { kind: "when", label: "in 2025", source: "chosen", words: [], choices: [] },
  { kind: "order", label: "highest first", source: "default", words: [], choices: [choice("lowest first")] },
];

function shown(change: Partial<ReadAs> = {}, disabled = false) {
  const onChoose = vi.fn();
  const read: ReadAs = {
    question: "",
    parts: PARTS,
    aside: [],
    unread: [],
    joins: [],
    trust: [],
    ...change,
  };
  render(<ReadParts read={read} disabled={disabled} onChoose={onChoose} />);
  return { onChoose, group: screen.getByRole("group", { name: "How the question was read" }) };
}

function opened(name: RegExp): HTMLElement {
  fireEvent.keyDown(screen.getByRole("button", { name }), { key: "Enter" });
  return screen.getByRole("menu");
}

afterEach(cleanup);

test("each part is said with what it is and where it comes from", () => {
  const { group } = shown();
  expect(
    within(group)
      .getAllByRole("listitem")
      .map((item) => item.textContent),
  ).toEqual([
    "total revenue, measure: from “sales”",
    "by region, grouping: kept from the answer before",
    "in 2025, time: chosen by you",
    "highest first · assumed, order: no word of the question asks for it",
  ]);
});

test("only a part with choices is a button, and an assumed part is not told by its look alone", () => {
  const { group } = shown();
  const names = within(group)
    .getAllByRole("button")
    .map((button) => button.textContent);
  expect(names.some((name) => name?.startsWith("in 2025"))).toBe(false);
  expect(names.filter((name) => name?.includes("assumed"))).toHaveLength(1);
});

test("a likely part says so with its words, and has its choices", () => {
  const likely: ReadPart = {
    kind: "measure",
    label: "total fare",
    source: "likely",
    words: words("takings"),
    choices: [choice("average fare")],
  };
  const kept: ReadPart = { ...likely, words: [], choices: [] };
  const { group, onChoose } = shown({ parts: [likely, kept] });
  const items = within(group).getAllByRole("listitem");
  expect(items.map((item) => item.textContent)).toEqual([
    "total fare · likely: “takings”, measure: likely meant by “takings”, not a name in the data, to be checked",
    "total fare · likely, measure: read so in the answer before, to be checked",
  ]);
  expect(items.every((item) => item.querySelector(".border-dashed") !== null)).toBe(true);
  fireEvent.click(within(opened(/^total fare · likely/)).getByText("average fare"));
  expect(onChoose).toHaveBeenCalledExactlyOnceWith(likely.choices[0]);
});

test("a choice is taken by the keyboard, and what holds already changes nothing", () => {
  const { onChoose } = shown();
  const items = within(opened(/^total revenue/)).getAllByRole("menuitemradio");
  expect(items.map((item) => [item.textContent, item.getAttribute("aria-checked")])).toEqual([
    ["total revenue", "true"],
    ["average revenue", "false"],
    ["number of orders", "false"],
  ]);
  fireEvent.keyDown(items[2] as HTMLElement, { key: "Enter" });
  expect(onChoose).toHaveBeenCalledExactlyOnceWith(PARTS[0]?.choices[1]);
  fireEvent.click(within(opened(/^total revenue/)).getByText("total revenue"));
  expect(onChoose).toHaveBeenCalledOnce();
});

test("while an answer is under way no choice is taken", () => {
  const { onChoose } = shown({}, true);
  const item = within(opened(/^by region/)).getByRole("menuitemradio", { name: "country" });
  expect(item.getAttribute("aria-disabled")).toBe("true");
  fireEvent.click(item);
  expect(onChoose).not.toHaveBeenCalled();
});

test("a reading that a question back offers is taken by one click", () => {
  const choices = [choice("Revenue by month"), choice("Number of orders by month")];
  const onChoose = vi.fn();
  const { rerender } = render(<Readings choices={choices} disabled={false} onChoose={onChoose} />);
  const list = screen.getByRole("list", { name: "Which of these do you mean?" });
  const buttons = within(list).getAllByRole("button");
  expect(buttons.map((button) => button.textContent)).toEqual(choices.map((one) => one.label));
  fireEvent.click(buttons[1] as HTMLElement);
  expect(onChoose).toHaveBeenCalledExactlyOnceWith(choices[1]);
  rerender(<Readings choices={choices.slice(0, 1)} disabled onChoose={onChoose} />);
  const only = within(screen.getByRole("list", { name: "Do you mean this?" })).getByRole("button");
  fireEvent.click(only);
  expect(onChoose).toHaveBeenCalledOnce();
});

test("the columns that tables were joined by are named", () => {
  const by = "orders.customer_id = customers.customer_id";
  expect(shown({ joins: [by] }).group.textContent).toContain(`Joined by: ${by}`);
  cleanup();
  expect(shown().group.textContent).not.toContain("Joined by");
});

test("words that are in no part are named, and those that mean nothing for the query", () => {
  const { group } = shown({ unread: words("profitable"), aside: [...words("please"), ...words("show me")] });
  expect(group.textContent).toContain("In no part of it: “profitable”");
  expect(group.textContent).toContain("Left aside: “please”, “show me”");
  cleanup();
  expect(shown().group.textContent).not.toMatch(/In no part|Left aside/);
});
