import { describe, expect, test } from "vitest";
import { safeFigure, safeText } from "./safe_figure";

const PIXEL = "data:image/png;base64,iVBORw0KGgo=";
const bar = { type: "bar", x: ["a"], y: [1] };

describe("text", () => {
  test.each([
    ["formatting stays", "<b>Sales</b><br>by <i>month</i>", "<b>Sales</b><br>by <i>month</i>"],
    ["a link is its words", '<a href="https://x.example">here</a>', "here"],
    ["a style", "<span style='cursor:url(https://x.example)'>big</span>", "big"],
    ["formatting with attributes", "<b style='x'>bold</b>", "bold</b>"],
    [
      "a tag inside a tag",
      '<<b>a href="https://x.example">here</a>',
      '&lt;<b>a href="https://x.example">here',
    ],
    ["a tag around a tag", "<<a>a href=x>here", "here"],
    ["made by a template", "<%{x} href='https://x.example'>", "&lt;%{x} href='https://x.example'>"],
    ["less than", "a < b, 3<5", "a &lt; b, 3&lt;5"],
    ["nothing to do", "%{x}: %{y}", "%{x}: %{y}"],
    ["beside a label", "%{y}<extra></extra>", "%{y}<extra></extra>"],
    ["a comment", "<!-- x --><p>y", "&lt;!-- x -->y"],
  ])("%s", (_, text, expected) => {
    expect(safeText(text)).toBe(expected);
  });

  test("no tag is left but formatting, however it is put together", () => {
    const pieces = ["<", "<a ", "a", "href=x", ">", "<b>", "</a>", "<br>", "%{x}", " "];
    let seed = 1;
    for (let round = 0; round < 3000; round++) {
      let text = "";
      for (let at = 0; at < 8; at++) {
        seed = (seed * 48271) % 2147483647;
        text += pieces[seed % pieces.length];
      }
      const tags = safeText(text).match(/<[^<>]*>?/g) ?? [];
      expect(
        tags.filter((tag) => !/^<(\/?b|br)>$/.test(tag)),
        text,
      ).toEqual([]);
    }
  });
});

test("traces are kept as they are", () => {
  const trace = { ...bar, marker: { color: "#123456" }, y: { dtype: "f8", bdata: "AAAAAAAA8D8=" } };
  expect(safeFigure({ data: [trace], layout: { title: { text: "T" } } })).toEqual({
    figure: { data: [trace], layout: { title: { text: "T" } } },
    left: [],
  });
});

test("text anywhere in it is made safe", () => {
  const link = '<a href="https://x.example">x</a>';
  const { figure } = safeFigure({
    data: [{ ...bar, x: [link], hovertemplate: link, customdata: [[link]] }],
    layout: { annotations: [{ text: link }], xaxis: { ticktext: [link] }, meta: { a: link } },
  });
  expect(JSON.stringify(figure)).not.toContain("href");
});

test.each([
  ["maps", { data: [bar], layout: { mapbox: { style: "https://x.example" }, geo: {}, map: {} } }],
  ["buttons and sliders", { data: [bar], layout: { updatemenus: [{ buttons: [] }], sliders: [{}] } }],
  ["settings", { data: [bar], layout: { config: { plotlyServerURL: "https://x.example" } } }],
])("%s are left out", (_, figure) => {
  expect(safeFigure(figure).figure).toEqual({ data: [bar], layout: {} });
});

test.each([
  ["a picture from elsewhere", { data: [bar], layout: { images: [{ source: "https://x.example/p.png" }] } }],
  ["a picture of ours", { data: [bar], layout: { images: [{ source: "/runs" }] } }],
  [
    "a drawing with a program in it",
    { data: [bar], layout: { images: [{ source: "data:image/svg+xml,<svg/>" }] } },
  ],
  [
    "a template",
    { data: [bar], layout: { template: { layout: { images: [{ source: "https://x.example" }] } } } },
  ],
])("%s is left out", (_, figure) => {
  expect(JSON.stringify(safeFigure(figure))).not.toContain("source");
});

test("a picture inside stays", () => {
  const images = [{ source: PIXEL, x: 0 }, { source: "https://x.example" }, null];
  expect(safeFigure({ data: [bar], layout: { images } }).figure.layout).toEqual({
    images: [{ source: PIXEL, x: 0 }],
  });
});

test("what is not drawn is said", () => {
  const { figure, left } = safeFigure({
    data: [
      bar,
      { type: "scattermap" },
      { type: "choropleth" },
      { type: "image", source: "https://x.example/p.png" },
    ],
  });
  expect(figure.data).toEqual([bar]);
  expect(left).toEqual(["scattermap", "choropleth", "picture from elsewhere"]);
});

test("many points are drawn as points", () => {
  expect(safeFigure({ data: [{ type: "scattergl", x: [1] }] }).figure.data[0]).toMatchObject({
    type: "scatter",
  });
});

test("names that reach into objects are left out", () => {
  const layout = JSON.parse('{"__proto__": {"polluted": 1}, "a": {"constructor": {"prototype": 1}}}');
  expect(safeFigure({ data: [], layout }).figure.layout).toEqual({ a: {} });
});
