// What a Plotly figure says of itself: its texts, the labels of its axes, its colours, how its amounts are shown.
import { percent, plain, tick as short } from "./format.js";

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const PLAIN = "currentColor";

export const unescaped = (words) =>
  String(words ?? "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

export const titleOf = ({ layout }) =>
  unescaped(typeof layout?.title === "string" ? layout.title : layout?.title?.text);

// What stands below the title: that rows are missing, and which values the reference lines have.
export function notesOf({ layout }) {
  const references = (layout?.annotations || []).filter(({ name }) => name === "reference");
  return [layout?.title?.subtitle?.text, ...references.map(({ text }) => text)].filter(Boolean).map(unescaped);
}

// A figure for each vertical axis, in their order, with the heading that stands above it.
export function panelsOf({ data, layout }) {
  const axisOf = (trace) => trace.yaxis || "y", names = [...new Set(data.map(axisOf))];
  if (names.length < 2) return [{ figure: { data, layout } }];
  const notes = (layout?.annotations || []).filter(({ name }) => name === "panel");
  return names.map((name, at) => ({
    heading: unescaped(notes[at]?.text),
    figure: { data: data.filter((trace) => axisOf(trace) === name), layout: { ...layout, yaxis: layout[`yaxis${name.slice(1)}`] } },
  }));
}

// A trace's own colour, else that of the figure's colourway, as Plotly does it.
export function colourOf({ data, layout }, at) {
  const way = layout?.colorway || [];
  return data[at]?.marker?.color || way[at % way.length] || PLAIN;
}

export const sliceColour = (trace, at) => trace.marker?.colors?.[at] || PLAIN;

// What an axis calls a value: by its tick texts, else by its format for moments, else the value itself.
export function tickOf(axis, value) {
  const at = (axis?.tickvals || []).findIndex((one) => String(one) === String(value));
  if (at >= 0 && axis.ticktext?.[at] !== undefined) return unescaped(axis.ticktext[at]);
  const day = /^(\d{4})-(\d{2})-(\d{2})/.exec(value);
  if (axis?.type !== "date" || !day) return unescaped(value);
  const [whole, year, month, date] = day;
  if (!axis.tickformat) return whole;
  const parts = { "%Y": year, "%b": MONTHS[month - 1], "%d": date };
  return axis.tickformat.replace("\n", " ").replace(/%[Ybd]/g, (part) => parts[part]);
}

// How the amounts of a figure are written: as per cent where its axis, its scale or its texts say so, with the signs of
// their unit.
export function amountsOf({ data: [trace], layout }) {
  const across = trace.orientation === "h" || trace.type === "histogram";
  const axis = (trace.type === "heatmap" ? trace.colorbar : layout?.[across ? "xaxis" : "yaxis"]) || {};
  const placed = /([^<>{}]*)%\{value[^}]*\}([^<>{}]*)$/.exec(trace.type === "pie" ? trace.texttemplate : "");
  const inPercent = /%$/.test(axis.tickformat || "") || /%\}$/.test(trace.texttemplate || "");
  const [before, after] = (placed ? placed.slice(1) : [axis.tickprefix, axis.ticksuffix]).map(unescaped);
  return (value) => `${before}${(inPercent ? percent : short)(value)}${after}`;
}

// A single number with its signs, and the change that the figure says.
export function numberOf({ value, number = {}, meta = {} }) {
  const said = /%$/.test(number.valueformat || "") ? percent : plain, change = Number(meta?.change ?? NaN);
  return {
    text: `${unescaped(number.prefix)}${said(Number(value))}${unescaped(number.suffix)}`,
    change: Number.isFinite(change) ? `${change > 0 ? "+" : ""}${(meta.relative ? percent : plain)(change)}` : "",
  };
}
