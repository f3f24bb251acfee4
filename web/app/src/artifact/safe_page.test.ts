import { describe, expect, test } from "vitest";
import { FRAME_POLICY, heightFor, safePage } from "./safe_page";

const look = { ink: "#eee", page: "#111", line: "#333", font: "serif", dark: true };
const made = (html: string) => safePage(html, look);
const body = (html: string) => new DOMParser().parseFromString(made(html), "text/html").body.innerHTML;

test("a style sheet loads no other", () => {
  const page = made(
    '<style>@import "https://x.example/a.css"; p{background:url("https://x.example/b")}</style>',
  );
  expect(page).not.toContain("x.example");
});

test("the policy comes before anything of the stranger's", () => {
  const page = made("<head><style>b{color:red}</style></head><b>x</b>");
  expect(page.indexOf(FRAME_POLICY)).toBeGreaterThan(0);
  expect(page.indexOf(FRAME_POLICY)).toBeLessThan(page.indexOf("b{color:red}"));
});

test.each([
  ["a script", "<script>x()</script><p>a</p>", "<p>a</p>"],
  ["a handler", '<p onclick="x()" ONLOAD="y()">a</p>', "<p>a</p>"],
  ["a picture from elsewhere", '<img src="https://x.example/p.png" alt="p">', '<img alt="p">'],
  ["a frame with its own page", "<iframe srcdoc='<script>x()</script>'></iframe>a", "a"],
  ["another base", '<base href="https://x.example/">a', "a"],
  ["a redirection", '<meta http-equiv="refresh" content="0;url=https://x.example">a', "a"],
  ["a connection ahead of time", '<link rel="preconnect" href="https://x.example">a', "a"],
  ["a form", '<form action="https://x.example"><input></form>', "<input>"],
  [
    "a link out of its frame",
    '<a href="https://x.example" target="_top">a</a>',
    '<a title="https://x.example">a</a>',
  ],
  [
    "a style that loads",
    '<p style="background: url(https://x.example/p)">a</p>',
    '<p style="background: none">a</p>',
  ],
  ["a link with a program", '<a href="javascript:x()">a</a>', '<a title="javascript:x()">a</a>'],
])("%s is left out", (_, html, expected) => {
  expect(body(html)).toBe(expected);
});

test.each([
  ["a table", '<table><tbody><tr><td style="text-align:right">1</td></tr></tbody></table>'],
  ["a place in the page", '<a href="#below">a</a>'],
  ["a picture inside", '<img src="data:image/png;base64,AAAA">'],
])("%s stays", (_, html) => {
  expect(body(html)).toBe(html);
});

describe("paper", () => {
  test("a page without colours takes ours", () => {
    expect(made("<p>a</p>")).toContain("background:#111;color:#eee");
  });
  test("a page with colours is shown on white", () => {
    expect(made('<p style="color:#333">a</p>')).toContain("color-scheme:light;background:white");
  });
});

test.each([
  ["little", "<b>1</b>", 96],
  ["three rows", "<table><tr><td>1</td></tr><tr></tr><tr></tr></table>", 122],
  ["much", "<tr>".repeat(400), 480],
])("room for %s", (_, html, height) => {
  expect(heightFor(html)).toBe(height);
});
