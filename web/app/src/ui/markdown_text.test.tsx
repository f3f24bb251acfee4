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
  expect(shown("[x](javascript:alert(1))").querySelector("a")?.getAttribute("href")).toBeFalsy();
});

test("tables and emphasis are shown", () => {
  const made = shown("*yes*\n\n| a | n |\n| --- | ---: |\n| b | 1 |");
  expect(made.querySelector("em")?.textContent).toBe("yes");
  expect(made.querySelectorAll("td")).toHaveLength(2);
});
