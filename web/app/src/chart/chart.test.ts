import { describe, expect, test } from "vitest";
import type { Figure, Row } from "~/api/model";
import { date, number, onTheWall, type ShownColumn } from "~/format";
import { dressed, onViewersClock, spokenValues } from "./dress";
import { heightOf, roomIn } from "./height";
import { computedTitle, legendOf } from "./legend";
import { type Palette, paletteOf } from "./palette";
import { fileName } from "./picture";
import { type ChartType, fittingTypes, redraw, typeOf } from "./redraw";
import { shapeOf } from "./shape";

const category: ShownColumn = { name: "category", type: "VARCHAR" };
const region: ShownColumn = { name: "region", type: "VARCHAR" };
const month: ShownColumn = { name: "month", type: "TIMESTAMP" };
const year: ShownColumn = { name: "year", type: "BIGINT" };
const orders: ShownColumn = { name: "orders", type: "BIGINT" };
const revenue: ShownColumn = { name: "revenue", type: "DECIMAL(18,2)", unit: "EUR", format: "currency" };
const rate: ShownColumn = { name: "return_rate", type: "DOUBLE", format: "percent" };
const id: ShownColumn = { name: "order_id", type: "BIGINT" };

const BY_CATEGORY: Row[] = [
  ["Home", 5, "10.50"],
  ["Toys & <b>", 3, "7.25"],
  [null, 2, "1.00"],
];
const MONTHS: Row[] = ["2025-03", "2025-01", "2025-02"].map((text, n) => [`${text}-01T00:00:00`, n + 1]);
const GRID: Row[] = ["a", "b", "c"].flatMap((one) => ["x", "y"].map((other): Row => [one, other, 1]));
const POINTS: Row[] = Array.from({ length: 30 }, (_, n) => [n * 2, String(n / 4)]);

test.each<[string, ShownColumn[], Row[], ChartType[]]>([
  ["one name, two amounts", [category, orders, revenue], BY_CATEGORY, ["bar", "hbar", "scatter", "pie"]],
  ["shares make no pie", [category, rate], BY_CATEGORY.map(([name]) => [name, 0.2]), ["bar", "hbar"]],
  [
    "a loss makes no pie",
    [category, orders],
    [
      ["a", -1],
      ["b", 2],
    ],
    ["bar", "hbar"],
  ],
  ["months", [month, orders], MONTHS, ["bar", "hbar", "line", "area"]],
  [
    "years",
    [year, orders],
    [
      [2023, 1],
      [2024, 2],
    ],
    ["bar", "hbar", "line", "area"],
  ],
  ["two names", [category, region, orders], GRID, ["bar", "hbar", "heatmap"]],
  [
    "months of groups",
    [month, region, orders],
    ["2025-01", "2025-02"].flatMap((m) => ["x", "y"].map((r): Row => [`${m}-01T00:00:00`, r, 1])),
    ["bar", "hbar", "line", "heatmap"],
  ],
  ["only amounts", [orders, revenue], POINTS, ["scatter", "histogram"]],
  [
    "keys are no amounts",
    [id, category],
    [
      [1, "a"],
      [2, "b"],
    ],
    [],
  ],
  ["one row", [category, orders], [["a", 1]], []],
  ["nothing", [category, orders], [], []],
  [
    "rows with the same name",
    [category, orders],
    [
      ["a", 1],
      ["a", 2],
    ],
    [],
  ],
  [
    "too many bars",
    [category, orders],
    Array.from({ length: 80 }, (_, n) => [`c${n}`, n + 1]),
    ["histogram"],
  ],
])("types that fit: %s", (_, columns, rows, expected) => {
  expect(fittingTypes(columns, rows)).toEqual(expected);
});

// In the words of whoever runs this.
const euro = (value: string) => number(value, { unit: "EUR" });

const first = (figure: Figure | null) => figure?.data[0] ?? {};

describe("redraw", () => {
  test("every value is a cell of the rows, in their order", () => {
    const bar = first(redraw("bar", [category, orders], BY_CATEGORY));
    expect(bar).toMatchObject({ type: "bar", x: ["Home", "Toys & <b>", "(empty)"], y: [5, 3, 2] });
    const sideways = redraw("hbar", [category, orders], BY_CATEGORY);
    expect(first(sideways)).toMatchObject({ orientation: "h", x: [5, 3, 2] });
    expect(sideways?.layout?.yaxis).toMatchObject({ autorange: "reversed" });
  });

  test("what Plotly shows as text cannot be markup", () => {
    const bar = redraw("bar", [category, orders], BY_CATEGORY);
    expect(bar?.layout?.xaxis).toMatchObject({ ticktext: ["Home", "Toys &amp; &lt;b&gt;", "(empty)"] });
    expect(first(bar).hovertext).toEqual(["Home<br>5", "Toys &amp; &lt;b&gt;<br>3", "(empty)<br>2"]);
  });

  test("hovering says units", () => {
    const bar = first(
      redraw(
        "bar",
        [category, revenue],
        BY_CATEGORY.map(([name, , paid]) => [name, paid]),
      ),
    );
    expect(bar.hovertext).toContain(`Home<br>${euro("10.50")}`);
  });

  test("a line goes along time whatever the order of the rows", () => {
    const line = first(redraw("line", [month, orders], MONTHS));
    expect(line).toMatchObject({ type: "scatter", y: [2, 3, 1] });
    expect(line.fill).toBeUndefined();
    expect(first(redraw("area", [month, orders], MONTHS)).fill).toBe("tozeroy");
    expect(line.hovertext).toContain(`${date("2025-03-01").text}<br>1`);
  });

  test("the second name makes the series", () => {
    const grouped = redraw("bar", [category, region, orders], GRID);
    expect(grouped?.data.map((trace) => trace.name)).toEqual(["x", "y"]);
    expect(grouped?.layout?.showlegend).toBe(true);
    expect(first(redraw("heatmap", [category, region, orders], GRID))).toMatchObject({
      x: ["a", "b", "c"],
      y: ["x", "y"],
      z: [
        [1, 1, 1],
        [1, 1, 1],
      ],
    });
  });

  test("it shows the amount that the given figure shows", () => {
    const given: Figure = { data: [{ type: "bar", x: ["a"], y: ["10.50", "7.25", "1.00"] }] };
    expect(first(redraw("bar", [category, orders, revenue], BY_CATEGORY, given)).y).toEqual([10.5, 7.25, 1]);
    expect(first(redraw("pie", [category, orders, revenue], BY_CATEGORY, given)).values).toEqual([
      10.5, 7.25, 1,
    ]);
  });

  test("what does not fit is not drawn", () => {
    expect(redraw("pie", [category, region, orders], GRID)).toBeNull();
    expect(redraw("line", [category, orders], BY_CATEGORY)).toBeNull();
    expect(redraw("histogram", [category, orders], BY_CATEGORY)).toBeNull();
  });
});

test.each<[Figure["data"][number], ChartType | null]>([
  [{ type: "bar" }, "bar"],
  [{ type: "bar", orientation: "h" }, "hbar"],
  [{ type: "scatter", mode: "lines+markers" }, "line"],
  [{ type: "scatter", mode: "markers" }, "scatter"],
  [{ type: "scatter", fill: "tozeroy" }, "area"],
  [{ type: "pie" }, "pie"],
  [{ type: "heatmap" }, "heatmap"],
  [{ type: "violin" }, null],
])("%o is a %s", (trace, expected) => expect(typeOf({ data: [trace] })).toBe(expected));

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
  [{ type: "heatmap", z: [["7.25", null]], hovertemplate: "%{z:,d}" }, "%{hovertext}", [[euro("7.25"), ""]]],
  // Values that are in no column stay as the server says them.
  [{ type: "bar", x: ["Home"], y: [99], hovertemplate: "%{y:,d}" }, "%{y:,d}", undefined],
])("the server's hover text with units: %o", (trace, template, texts) => {
  const shape = shapeOf([category, orders, revenue], BY_CATEGORY);
  const [spoken] = spokenValues({ data: [trace] }, shape).data;
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

describe("what a figure shows side by side stays side by side", () => {
  const rows: Row[] = [
    ["Home", 0.2, 0.1],
    ["Toys", 0.3, 0.05],
  ];
  const discount: ShownColumn = { name: "avg_discount", type: "DOUBLE", format: "percent" };
  const trace = (at: number) => ({
    type: "bar",
    x: rows.map((row) => row[at]),
    y: ["Home", "Toys"],
    orientation: "h",
  });
  const both = { data: [trace(1), trace(2)], layout: {} } as Figure;
  test.each<[ChartType, "x" | "y"]>([
    ["bar", "y"],
    ["hbar", "x"],
  ])("two amounts as %s", (type, letter) => {
    const made = redraw(type, [category, rate, discount], rows, both);
    expect(made?.data.map((one) => one.name)).toEqual(["Return rate", "Avg discount"]);
    expect(made?.data.map((one) => one[letter])).toEqual([
      [0.2, 0.3],
      [0.1, 0.05],
    ]);
    expect(made?.layout).toMatchObject({ showlegend: true, barmode: "group" });
  });
  test("two amounts as lines", () => {
    const days = MONTHS.map(([day, n]): Row => [day, n, Number(n) * 2]);
    const twice: ShownColumn = { name: "returns", type: "BIGINT" };
    const lines = {
      data: [
        { type: "bar", y: [1, 2, 3] },
        { type: "bar", y: [2, 4, 6] },
      ],
    } as Figure;
    expect(redraw("line", [month, orders, twice], days, lines)?.data).toHaveLength(2);
  });
  test("one amount of two stays one", () => {
    const one = { data: [trace(2)], layout: {} } as Figure;
    const made = redraw("bar", [category, rate, discount], rows, one);
    expect(made?.data.map((part) => part.y)).toEqual([[0.1, 0.05]]);
    expect(made?.layout?.showlegend).toBe(false);
  });
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

test.each([
  [{ title: { text: "Revenue by region &amp; &lt;b&gt;" } }, "Revenue by region & <b>"],
  [{ title: { text: 3 } }, ""],
  [{ title: null }, ""],
  [{}, ""],
])("a chart is titled by what was computed: %j", (layout, title) => {
  expect(computedTitle({ data: [], layout } as unknown as Figure)).toBe(title);
});
