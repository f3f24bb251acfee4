// One Plotly figure for each type of chart, without colours: `dressed` gives them those of the page.
import type { Figure } from "~/api/model";
import { cell, date, kindOf, type ShownColumn, time } from "~/format";
import { SYMBOLS } from "./palette";
import { type Field, isMoment, labelOf, numberOf } from "./shape";

type Trace = Record<string, unknown>;
type Axis = Record<string, unknown>;
/** Amounts of like size, side by side in one picture. */
export type Measures = readonly [Field, ...Field[]];

const LONGEST_TICK = 28;
const MOST_MARKED = 60;
const BAR_PX = 22;
const AROUND_BARS_PX = 110;

export function barFigure(along: Field, series: Field | null, measures: Measures, sideways: boolean): Figure {
  const labels = distinctLabels(along);
  const data = tracesOf(series, measures, along.cells.length).map(({ name, places, measure }): Trace => {
    const names = places.map((place) => labelOf(along.cells[place]));
    const values = places.map((place) => numberOf(measure.cells[place]));
    return {
      type: "bar",
      ...(sideways ? { x: values, y: names, orientation: "h" } : { x: names, y: values }),
      ...named(name),
      ...hover(places.map((place) => [spoken(along, place), spoken(measure, place)])),
    };
  });
  const axis = categoryAxis(along, labels);
  const amounts = valueAxis(...measures);
  return {
    data,
    layout: {
      ...(sideways
        ? { xaxis: amounts, yaxis: { ...axis, autorange: "reversed" } }
        : { xaxis: axis, yaxis: amounts }),
      ...(sideways ? { height: AROUND_BARS_PX + BAR_PX * along.cells.length * measures.length } : {}),
      ...legend(series, measures),
      barmode: "group",
    },
  };
}

export function lineFigure(along: Field, series: Field | null, measures: Measures, area: boolean): Figure {
  const data = tracesOf(series, measures, along.cells.length).map(({ name, places, measure }, n): Trace => {
    const inOrder = [...places].sort((a, b) => compare(along.cells[a], along.cells[b]));
    return {
      type: "scatter",
      mode: inOrder.length > MOST_MARKED ? "lines" : "lines+markers",
      x: inOrder.map((place) => along.cells[place]),
      y: inOrder.map((place) => numberOf(measure.cells[place])),
      connectgaps: false,
      marker: { symbol: SYMBOLS[n % SYMBOLS.length] },
      ...(area ? { fill: "tozeroy" } : {}),
      ...named(name),
      ...hover(inOrder.map((place) => [spoken(along, place), spoken(measure, place)])),
    };
  });
  const moment = isMoment(along);
  const xaxis: Axis = { title: axisTitle(along.column), type: moment ? "date" : "linear", automargin: true };
  if (!moment) xaxis.tickformat = "d";
  return { data, layout: { xaxis, yaxis: valueAxis(...measures), ...legend(series, measures) } };
}

export function scatterFigure(across: Field, up: Field, groups: Field | null, names: Field | null): Figure {
  const data = groupsOf(groups, up.cells.length).map(({ name, places }, n): Trace => {
    return {
      type: "scatter",
      mode: "markers",
      x: places.map((place) => numberOf(across.cells[place])),
      y: places.map((place) => numberOf(up.cells[place])),
      marker: { symbol: SYMBOLS[n % SYMBOLS.length] },
      ...named(name),
      ...hover(
        places.map((place) => [
          ...(names ? [spoken(names, place)] : []),
          `${across.column.name} ${spoken(across, place)}`,
          `${up.column.name} ${spoken(up, place)}`,
        ]),
      ),
    };
  });
  return { data, layout: { xaxis: valueAxis(across), yaxis: valueAxis(up), ...legend(groups) } };
}

export function pieFigure(key: Field, measure: Field): Figure {
  const trace: Trace = {
    type: "pie",
    labels: key.cells.map((value) => escaped(shortened(labelOf(value)))),
    values: measure.cells.map(numberOf),
    text: measure.cells.map((_, place) => escaped(spoken(measure, place))),
    textinfo: "label+text",
    sort: false,
    direction: "clockwise",
    automargin: true,
    ...hover(key.cells.map((_, place) => [spoken(key, place), spoken(measure, place)])),
  };
  return { data: [trace], layout: { showlegend: false } };
}

export function heatmapFigure(across: Field, down: Field, measure: Field): Figure {
  const [xs, ys] = [distinctLabels(across), distinctLabels(down)];
  const places = new Map<string, number>();
  across.cells.forEach((value, place) => {
    places.set(`${labelOf(value)}\u0000${labelOf(down.cells[place])}`, place);
  });
  const placeOf = (x: string, y: string) => places.get(`${x}\u0000${y}`);
  const trace: Trace = {
    type: "heatmap",
    x: xs,
    y: ys,
    z: ys.map((y) => xs.map((x) => numberOf(measure.cells[placeOf(x, y) ?? -1]))),
    xgap: 1,
    ygap: 1,
    hoverongaps: false,
    hovertext: ys.map((y) =>
      xs.map((x) => {
        const place = placeOf(x, y);
        return place === undefined
          ? ""
          : [spoken(across, place), spoken(down, place), spoken(measure, place)].map(escaped).join("<br>");
      }),
    ),
    hovertemplate: "%{hovertext}<extra></extra>",
    colorbar: { title: axisTitle(measure.column), ...percentTicks(measure) },
  };
  return {
    data: [trace],
    layout: {
      xaxis: categoryAxis(across, xs),
      yaxis: { ...categoryAxis(down, ys), autorange: "reversed" },
    },
  };
}

export function histogramFigure(measure: Field): Figure {
  const trace: Trace = {
    type: "histogram",
    x: measure.cells.map(numberOf),
    hovertemplate: "%{x}<br>%{y:,d} rows<extra></extra>",
  };
  const yaxis: Axis = { title: { text: "Number of rows" }, type: "linear", automargin: true };
  return { data: [trace], layout: { xaxis: valueAxis(measure), yaxis, bargap: 0.04 } };
}

/** Lines of plain text for every point: Plotly would read tags in them. */
function hover(lines: readonly (readonly string[])[]): Trace {
  return {
    hovertext: lines.map((texts) => texts.map(escaped).join("<br>")),
    hovertemplate: "%{hovertext}",
  };
}

function named(name: string | null): Trace {
  return name === null ? { showlegend: false } : { name: escaped(shortened(name)) };
}

function legend(series: Field | null, measures: readonly Field[] = []): Record<string, unknown> {
  if (!series && measures.length > 1) return { showlegend: true };
  return series ? { showlegend: true, legend: { title: axisTitle(series.column) } } : { showlegend: false };
}

/** One for each series; for each amount where there are several. */
function tracesOf(series: Field | null, measures: Measures, rows: number) {
  const several = measures.length > 1;
  return measures.flatMap((measure) =>
    groupsOf(series, rows).map(({ name, places }) => {
      return { name: several ? wordsOf(measure.column) : name, places, measure };
    }),
  );
}

function groupsOf(series: Field | null, rows: number): { name: string | null; places: number[] }[] {
  const groups = new Map<string | null, number[]>();
  for (let place = 0; place < rows; place += 1) {
    const name = series ? labelOf(series.cells[place]) : null;
    const group = groups.get(name);
    if (group) group.push(place);
    else groups.set(name, [place]);
  }
  return [...groups].map(([name, places]) => ({ name, places }));
}

function distinctLabels(field: Field): string[] {
  return [...new Set(field.cells.map(labelOf))];
}

function categoryAxis(field: Field, labels: readonly string[]): Axis {
  const said = labels.map((label) => escaped(shortened(axisLabel(field.column, label))));
  return {
    title: axisTitle(field.column),
    type: "category",
    automargin: true,
    categoryorder: "array",
    categoryarray: labels,
    tickmode: "array",
    tickvals: labels,
    ticktext: said,
  };
}

function axisLabel(column: ShownColumn, label: string): string {
  const kind = kindOf(column.type);
  if (kind === "date") return date(label).text;
  return kind === "timestamp" ? time(label).text : label;
}

/** Of several amounts the legend says which they are. */
function valueAxis(field: Field, ...more: Field[]): Axis {
  const title = more.length > 0 ? { text: "" } : axisTitle(field.column);
  return { title, type: "linear", automargin: true, ...percentTicks(field) };
}

function percentTicks({ column }: Field): Axis {
  return column.format === "percent" ? { tickformat: ".0%" } : {};
}

export function axisTitle(column: ShownColumn): { text: string } {
  const { unit, format } = column;
  const said = wordsOf(column);
  return { text: escaped(unit && format !== "percent" ? `${said} (${unit})` : said) };
}

function wordsOf({ name }: ShownColumn): string {
  const words = name.replaceAll("_", " ").trim();
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}

function spoken(field: Field, place: number): string {
  const value = field.cells[place];
  return value === null || value === undefined ? labelOf(value) : cell(value, field.column).text;
}

function shortened(text: string): string {
  return text.length > LONGEST_TICK ? `${text.slice(0, LONGEST_TICK - 1)}…` : text;
}

function compare(a: unknown, b: unknown): number {
  const [one, other] = [numberOf(a), numberOf(b)];
  if (one !== null && other !== null) return one - other;
  return String(a) < String(b) ? -1 : Number(String(a) > String(b));
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
