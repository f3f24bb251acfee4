import { describe, expect, test } from "vitest";
import type { Figure, Row } from "~/api/model";
import { NONE, number, onTheWall, percent, type ShownColumn } from "~/format";
import { dressed, onViewersClock } from "./dress";
import { heightOf, roomFor, roomIn } from "./height";
import { computedTitle, legendOf, noteOf } from "./legend";
import { numbersOf } from "./numbers";
import { type Palette, paletteOf } from "./palette";
import { fileName } from "./picture";
import { spokenValues } from "./spoken";

const category: ShownColumn = { name: "category", kind: "text" as const };
const orders: ShownColumn = { name: "orders", kind: "integer" as const };
const revenue: ShownColumn = { name: "revenue", kind: "decimal" as const, unit: "EUR" };

const BY_CATEGORY: Row[] = [
  ["Home", 5, "10.50"],
  ["Toys & <b>", 3, "7.25"],
  [null, 2, "1.00"],
];

// In the locale of the machine that runs this.
const euro = (value: string) => number(value, { unit: "EUR" });

describe("dress", () => {
  const tokens = (values: Record<string, string>): Palette =>
    paletteOf("light", { getPropertyValue: (name) => ` ${values[name.slice(2)] ?? ""}` });
  const light = tokens({
    ink: "#111111",
    page: "#ffffff",
    line: "#dddddd",
    accent: "#0000ff",
    "accent-soft": "#eeeeff",
  });
  const figure: Figure = {
    data: [
      { type: "bar", x: ["a"], y: [1], marker: { color: "#0072b2" } },
      { type: "bar", x: ["a"], y: [2] },
    ],
    layout: {
      height: 900,
      title: { text: "Server's" },
      xaxis: { type: "category", gridcolor: "red" },
      yaxis: { type: "linear", title: { text: "Orders" } },
    },
  };

  test("the accent comes first, and the server's colours give way", () => {
    const { data, layout } = dressed(figure, light);
    expect(data.map((trace) => (trace.marker as { color: string }).color)).toEqual(light.series.slice(0, 2));
    expect(light.series[0]).toBe("#0000ff");
    expect(layout).toMatchObject({
      yaxis: { gridcolor: "#dddddd", fixedrange: true, title: { text: "Orders" } },
    });
    expect(layout?.height).toBeUndefined();
  });

  test("the page shows title and legend itself; a picture has them inside", () => {
    const many = { ...figure, layout: { ...figure.layout, showlegend: true } };
    expect(dressed(many, light).layout?.showlegend).toBe(false);
    expect(dressed(many, light, "Orders").layout?.showlegend).toBe(true);
    expect(dressed(figure, light).layout?.title).toEqual({ text: "" });
    expect(dressed(figure, light, "Orders <x>").layout?.title).toMatchObject({ text: "Orders &lt;x&gt;" });
  });

  test("the figure it is given stays as it was", () => {
    const before = structuredClone(figure);
    dressed(figure, light);
    expect(figure).toEqual(before);
  });

  test("a few months are named once each", () => {
    const months = (count: number) =>
      Array.from({ length: count }, (_, n) => `2025-${String(n + 1).padStart(2, "0")}-01`);
    const drawn = (count: number) =>
      dressed(
        {
          data: [{ type: "scatter", x: months(count) }],
          layout: { xaxis: { type: "date", tickformat: "%b %Y" } },
        },
        light,
      ).layout?.xaxis;
    expect(drawn(2)).toMatchObject({ tickmode: "array", tickvals: ["2025-01-01", "2025-02-01"] });
    expect(drawn(12)).not.toHaveProperty("tickvals");
  });

  test("a heat map goes from quiet to accent, an area is faint", () => {
    const [map] = dressed({ data: [{ type: "heatmap", z: [[1]] }] }, light).data;
    expect(map?.colorscale).toEqual([
      [0, "#eeeeff"],
      [1, "#0000ff"],
    ]);
    const [area] = dressed({ data: [{ type: "scatter", fill: "tozeroy" }] }, light).data;
    expect(area?.fillcolor).toBe("#0000ff2e");
  });

  test("the themes have different series", () => {
    const style = { getPropertyValue: () => "" };
    expect(paletteOf("dark", style).series.slice(1)).not.toEqual(paletteOf("light", style).series.slice(1));
  });
});

test.each([
  [
    { type: "bar", x: ["Home"], y: ["10.50"], hovertemplate: "%{x}<br>%{y:,.2f}<extra></extra>" },
    "%{x}<br>%{hovertext}<extra></extra>",
    [euro("10.50")],
  ],
  [
    { type: "bar", orientation: "h", y: ["Home"], x: ["7.25"], hovertemplate: "%{y}<br>%{x:.1%}" },
    "%{y}<br>%{hovertext}",
    [euro("7.25")],
  ],
  [
    { type: "bar", x: ["Home"], y: ["10.50"], hovertemplate: "%{x}<br>€%{y:,.2f}<extra></extra>" },
    "%{x}<br>%{hovertext}<extra></extra>",
    [euro("10.50")],
  ],
  [{ type: "bar", x: ["Home"], y: [5], hovertemplate: "%{x}<br>%{y:,d} h" }, "%{x}<br>%{hovertext}", ["5"]],
  [{ type: "heatmap", z: [["7.25", null]], hovertemplate: "%{z:,d}" }, "%{hovertext}", [[euro("7.25"), ""]]],
  // Values that are in no column stay as the server says them.
  [{ type: "bar", x: ["Home"], y: [99], hovertemplate: "%{y:,d}" }, "%{y:,d}", undefined],
])("the server's hover text with units: %o", (trace, template, texts) => {
  const [spoken] = spokenValues({ data: [trace] }, [category, orders, revenue], BY_CATEGORY).data;
  expect(spoken?.hovertemplate).toBe(template);
  expect(spoken?.hovertext).toEqual(texts);
});

test.each([
  ["Return rate by category", "return-rate-by-category"],
  ["Größe / m²", "größe-m²"],
  ["../..", "chart"],
])("a picture of %s is called %s", (title, expected) => expect(fileName(title)).toBe(expected));

test("the legend tells series apart by colour and by sign, and one series needs none", () => {
  const line = (name: string, symbol: string) => ({
    type: "scatter",
    name,
    marker: { symbol, color: "#123456" },
  });
  expect(legendOf({ data: [line("a &amp; &lt;b&gt;", "circle"), line("c", "square")] })).toEqual([
    { name: "a & <b>", colour: "#123456", sign: "●" },
    { name: "c", colour: "#123456", sign: "■" },
  ]);
  expect(legendOf({ data: [line("a", "circle")] })).toEqual([]);
});

describe("moments on an axis", () => {
  const line = (x: unknown[], type = "date") =>
    ({ data: [{ type: "scatter", x }], layout: { xaxis: { type } } }) as Figure;
  const there = (x: unknown[], type?: string) => onViewersClock(line(x, type)).data[0]?.x;
  test("with a zone they stand where the table has them", () => {
    const moment = "2025-06-01T20:30:00+00:00";
    expect(there([moment])).toEqual([onTheWall(moment)]);
  });
  test.each([
    [["2025-06-01T20:30:00"], "date"],
    [["2025-06-01T00:00:00+00:00", "2025-07-01T00:00:00+00:00"], "date"],
    [["2025-06-01T20:30:00+00:00"], "category"],
  ])("%s on a %s axis stay", (x, type) => expect(there(x, type)).toEqual(x));
});

test.each([
  // The height of the window, what the figure asks for, names and series, and what it gets.
  [800, undefined, 9, 1, 239],
  [800, 200, 3, 1, 239],
  [800, 516, 9, 2, 222],
  [800, 550, 20, 1, 356],
  [1080, 380, 12, 1, 339],
  [1080, 550, 20, 1, 356],
  [1080, 1200, 40, 1, 656],
])(
  "in a window of %s a chart of %s with %s names, %s times, is %s high",
  (inside, own, names, series, wanted) => {
    const trace = { type: "bar", orientation: "h", y: Array.from({ length: names }, (_, n) => `${n}`) };
    const layout = own === undefined ? {} : { height: own };
    const figure = { data: Array.from({ length: series }, () => trace), layout };
    expect(heightOf(figure, roomIn(inside, series > 1))).toBe(wanted);
  },
);

test("two panels are seen whole, and many scroll", () => {
  const panels = (height: number): Figure => ({ data: [], layout: { height, yaxis2: {} } });
  const heights = (figure: Figure) => [
    heightOf(figure, roomFor(figure, roomIn(800, false))),
    roomFor(figure, roomIn(800, false)).most,
  ];
  expect(heights(panels(412))).toEqual([371, 416]);
  expect(heights(panels(1044))).toEqual([1003, 416]);
});

describe("panels", () => {
  const palette = paletteOf("light", { getPropertyValue: () => "" });
  const trace = (yaxis: string, legendgroup?: string) => ({
    type: "scatter",
    yaxis,
    ...(legendgroup ? { legendgroup, name: legendgroup } : {}),
  });
  const colours = (figure: Figure) =>
    dressed(figure, palette).data.map((one) => (one.marker as { color: string }).color);
  test("of one series each have one colour", () => {
    const [one, other] = colours({ data: [trace("y"), trace("y2")], layout: {} });
    expect(one).toBe(other);
  });
  test("of the same series have its colour", () => {
    const found = colours({ data: [trace("y", "0"), trace("y", "1"), trace("y2", "1")], layout: {} });
    expect(found[1]).toBe(found[2]);
    expect(found[0]).not.toBe(found[1]);
  });
  test("all have the axes and the texts of the page", () => {
    const layout = { yaxis: {}, yaxis2: {}, annotations: [{ text: "a" }] };
    const made = dressed({ data: [], layout }, palette).layout;
    expect(made?.yaxis2).toEqual(made?.yaxis);
    expect(made?.annotations).toMatchObject([{ text: "a", font: { size: 12 } }]);
  });
});

test.each([
  [{ title: { text: "Revenue by region &amp; &lt;b&gt;" } }, "Revenue by region & <b>"],
  [{ title: { text: 3 } }, ""],
  [{ title: null }, ""],
  [{}, ""],
])("a chart is titled by what was computed: %j", (layout, title) => {
  expect(computedTitle({ data: [], layout } as unknown as Figure)).toBe(title);
});

describe("single numbers", () => {
  const one = {
    type: "indicator",
    value: "1234.5",
    number: { prefix: "€", suffix: "", valueformat: ",.2f" },
    title: { text: "Revenue &lt;b&gt;" },
  };
  const figure = (...data: Figure["data"]): Figure => ({ data, layout: {} });
  test("have their signs, and the change that the figure says", () => {
    const changed = { ...one, mode: "number+delta", meta: { change: 0.25, relative: true } };
    expect(numbersOf(figure(changed, one))).toEqual([
      { text: `€${number("1234.5", { least: 2 })}`, change: `+${percent(0.25)}`, name: "Revenue <b>" },
      { text: `€${number("1234.5", { least: 2 })}`, change: "", name: "Revenue <b>" },
    ]);
  });
  test("are in percent where the figure says so", () => {
    const rate = { type: "indicator", value: 0.142, number: { valueformat: ".1%" } };
    expect(numbersOf(figure(rate))?.[0]?.text).toBe(percent(0.142));
  });
  test.each([[[]], [[one, { type: "bar" }]], [[{ type: "bar" }]]])("%j has something else", (data) => {
    expect(numbersOf(figure(...data))).toBeNull();
  });
  test("whatever a figure has in their place is shown as nothing", () => {
    const odd = { type: "indicator", value: { a: 1 }, number: 5, meta: null, title: 7 };
    expect(numbersOf(figure(odd))).toEqual([{ text: NONE, change: "", name: "" }]);
  });
});

test.each([
  [
    { title: { text: "T", subtitle: { text: "The first 200 rows &amp; more" } } },
    "The first 200 rows & more",
  ],
  [{ title: { text: "T", subtitle: { text: 3 } } }, ""],
  [{ title: null }, ""],
])("a chart says that rows are missing: %j", (layout, note) => {
  expect(noteOf({ data: [], layout } as unknown as Figure)).toBe(note);
});
