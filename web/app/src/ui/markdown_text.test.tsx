import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import MarkdownText from "./markdown_text";

const shown = (text: string) => render(<MarkdownText text={text} />).container;

test.each([
  ["raw HTML", "before <b onclick='x()'>bold</b> <script>x()</script>", "b, script"],
  ["a picture", "![a chart](https://example.org/p.png)", "img"],
])("%s does not become an element", (_, text, selector) => {
  expect(shown(text).querySelector(selector)).toBeNull();
});

test("a link that is no address of the web goes nowhere", () => {
  expect(shown("[x](javascript:alert(1))").querySelector("a")).toBeNull();
});

test.each([
  ["another host is said", "[docs](https://x.example/a)", "docs (x.example)"],
  ["a link that names another host than it has", "[y.example](https://x.example)", "y.example (x.example)"],
  ["a bare address says it itself", "https://x.example/a", "https://x.example/a"],
  ["a place on this server", "[run](/runs/1)", "run"],
  ["a picture from elsewhere", "![p](https://x.example/p.png)", "p (not loaded from x.example)"],
])("%s", (_, text, words) => {
  expect(shown(text).textContent).toBe(words);
});

test("a link tells nothing to where it leads", () => {
  const link = shown("[docs](https://x.example/a)").querySelector("a");
  expect(link?.getAttribute("rel")).toBe("noopener noreferrer");
  expect(link?.getAttribute("target")).toBe("_blank");
});

test("tables and emphasis are shown", () => {
  const made = shown("*yes*\n\n| a | n |\n| --- | ---: |\n| b | 1 |");
  expect(made.querySelector("em")?.textContent).toBe("yes");
  expect(made.querySelectorAll("td")).toHaveLength(2);
});

test("moments are in the viewer's zone, and what was written is there on hovering", () => {
  const made = shown(
    "Latest: **1 June 2025, 20:30 UTC**.\n\n- 2025-06-01T20:30:00Z\n\n`2025-06-01T20:30:00Z`",
  );
  const times = [...made.querySelectorAll("time")];
  expect(times.map((one) => one.title)).toEqual(["1 June 2025, 20:30 UTC", "2025-06-01T20:30:00Z"]);
  expect(times[0]?.dateTime).toBe("2025-06-01T20:30Z");
  // Code is shown as it is.
  expect(made.querySelector("code")?.textContent).toBe("2025-06-01T20:30:00Z");
});
