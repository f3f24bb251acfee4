// Draws a Plotly figure's traces as plain SVG: enough for a chat, with no library to load. Kind, order, labels and
// colours are the figure's own.
import { amountsOf, colourOf, notesOf, numberOf, panelsOf, sliceColour, tickOf, titleOf, unescaped } from "./figure.js";
import { isDate, niceTicks, span } from "./scale.js";
import { shortened, tick } from "./format.js";

const W = 640, H = 300, LEFT = 62, RIGHT = 14, TOP = 16, BOTTOM = 56;

export function drawing(h, given) {
  const figure = { data: (given?.data || []).filter(Boolean), layout: given?.layout };
  if (!figure.data.length) return null;
  const draw = { bar: bars, scatter: lines, histogram, pie, heatmap }[figure.data[0].type || "scatter"];
  const title = titleOf(figure);
  if (figure.data.every(({ type }) => type === "indicator")) return numbers(h, figure, title);
  const panels = panelsOf(figure).map((panel) => ({ ...panel, shapes: draw?.(h, panel.figure, amountsOf(panel.figure)) }));
  if (!panels.every(({ shapes }) => shapes)) return null;
  return h("figure", { style: { margin: 0 }, "data-part": "chart" },
    title && h("div", { className: "quiet", style: { marginBottom: 4 } }, title),
    notesOf(figure).map((text, i) => h("div", { key: `note${i}`, className: "quiet" }, text)),
    panels.map(({ heading, shapes }, i) => h("div", { key: `panel${i}` },
      heading && h("div", { className: "quiet" }, heading),
      h("svg", { viewBox: `0 0 ${W} ${shapes.height || H}`, role: "img", "aria-label": heading || title || "chart" }, shapes.parts))),
    legend(h, figure));
}

// Single numbers, as large as text can be, each with its change.
function numbers(h, { data }, title) {
  return h("figure", { style: { margin: 0 }, "data-part": "chart" },
    title && h("div", { className: "quiet", style: { marginBottom: 4 } }, title),
    h("div", { style: { display: "flex", flexWrap: "wrap", gap: "8px 32px" } }, data.map((trace, i) => {
      const { text, change } = numberOf(trace);
      return h("div", { key: `n${i}` },
        h("span", { style: { fontSize: i ? "1.4em" : "2em" } }, text), change && h("span", { className: "quiet" }, ` ${change}`),
        trace.title?.text && h("div", { className: "quiet" }, unescaped(trace.title.text)));
    })));
}

function legend(h, figure) {
  if (figure.data.filter(({ name }) => name).length < 2) return null;
  return h("div", { className: "row quiet" }, figure.data.map((trace, i) => trace.showlegend === false ? null :
    h("span", { key: i, className: "state" },
      h("span", { className: "dot", style: { background: colourOf(figure, i) } }), unescaped(trace.name))));
}

function bars(h, figure, amount) {
  return figure.data[0].orientation === "h" ? lying(h, figure, amount) : standing(h, figure, amount);
}

const isStacked = ({ layout }) => layout?.barmode === "stack";

// Parts of a hundred where all bars have one height, else the values themselves.
function partsOf({ data, layout }, keys, values) {
  if (layout?.barnorm !== "percent") return data;
  const whole = new Map();
  data.forEach((trace) => trace[keys].forEach((key, i) => whole.set(key, (whole.get(key) || 0) + Number(trace[values][i] ?? 0))));
  return data.map((trace) => ({ ...trace, [values]: trace[values].map((v, i) => (v === null ? v : (100 * Number(v)) / (whole.get(trace[keys][i]) || 1))) }));
}

// Where each bar of each trace begins: at zero, or where the one before it ended.
function beginnings(traces, keys, values, stacked) {
  const ends = new Map();
  return traces.map((trace) => trace[keys].map((key, i) => {
    const start = stacked ? ends.get(String(key)) || 0 : 0;
    ends.set(String(key), start + Number(trace[values][i] ?? 0));
    return start;
  }));
}

function standing(h, figure, amount) {
  const { layout } = figure, stacked = isStacked(figure), traces = partsOf(figure, "x", "y");
  const labels = [...new Set(traces.flatMap((t) => t.x.map(String)))];
  const from = beginnings(traces, "x", "y", stacked), side = stacked ? 1 : traces.length;
  const [low, high] = span(traces.flatMap((t, n) => t.y.map((v, i) => (v === null ? v : Number(v) + from[n][i]))), true);
  const y = (v) => TOP + (H - TOP - BOTTOM) * (1 - (v - low) / (high - low));
  const step = (W - LEFT - RIGHT) / labels.length, wide = (step * 0.76) / side;
  const parts = axis(h, low, high, y, amount), named = (label) => tickOf(layout?.xaxis, label);
  traces.forEach((trace, t) => trace.x.forEach((label, i) => {
    const value = trace.y[i];
    if (value === null || value === undefined) return;
    const x = LEFT + labels.indexOf(String(label)) * step + step * 0.12 + (stacked ? 0 : t * wide);
    const [a, b] = [y(from[t][i] + Math.max(Number(value), 0)), y(from[t][i] + Math.min(Number(value), 0))];
    parts.push(h("rect", { key: `b${t}.${i}`, x, y: a, width: Math.max(wide - 1, 1), height: Math.max(b - a, 0.5), fill: colourOf(figure, t) },
      h("title", null, `${named(label)}: ${value}`)));
  }));
  return { parts: parts.concat(labelsBelow(h, labels.map(named), (i) => LEFT + step * (i + 0.5))) };
}

function lying(h, figure, amount) {
  const { layout } = figure, stacked = isStacked(figure), named = (label) => tickOf(layout?.yaxis, label);
  const traces = partsOf(figure, "y", "x");
  const side = stacked ? 1 : traces.length, from = beginnings(traces, "y", "x", stacked);
  const labels = [...new Set(traces.flatMap((t) => t.y.map(String)))], thick = side > 1 ? 11 : 15;
  const line = thick * side + 7, left = 170, height = TOP + labels.length * line + 10;
  const [low, high] = span(traces.flatMap((t, n) => t.x.map((v, i) => (v === null ? v : Number(v) + from[n][i]))), true);
  const x = (v) => left + (W - left - RIGHT - 46) * ((v - low) / (high - low));
  const parts = labels.map((label, i) => h("text", { key: `l${i}`, x: left - 8, y: TOP + (i + 0.5) * line, textAnchor: "end" }, shortened(named(label), 26)));
  traces.forEach((trace, t) => trace.y.forEach((label, i) => {
    const value = trace.x[i], top = TOP + labels.indexOf(String(label)) * line + (stacked ? 0 : t * thick);
    if (value === null || value === undefined) return;
    const [a, b] = [x(from[t][i] + Math.min(Number(value), 0)), x(from[t][i] + Math.max(Number(value), 0))];
    parts.push(h("rect", { key: `b${t}.${i}`, x: a, y: top, width: Math.max(b - a, 0.5), height: thick - 2, fill: colourOf(figure, t) }, h("title", null, `${named(label)}: ${value}`)));
    // The parts of a stack leave no room between them for numbers.
    if (!stacked) parts.push(h("text", { key: `v${t}.${i}`, x: b + 5, y: top + thick - 3 }, amount(Number(value))));
  }));
  return { parts, height };
}

function lines(h, figure, amount) {
  const { data: traces, layout } = figure, named = (label) => tickOf(layout?.xaxis, label);
  const xs = traces.flatMap((t) => t.x.filter((v) => v !== null)), dated = xs.every(isDate), numeric = !dated && xs.every((v) => Number.isFinite(Number(v)));
  const labels = dated || numeric ? null : [...new Set(xs.map(String))];
  const place = (v) => (dated ? Date.parse(v) : numeric ? Number(v) : labels.indexOf(String(v)));
  const [left, right] = span(xs.map(place), false), [low, high] = span(traces.flatMap((t) => t.y), false);
  const x = (v) => LEFT + (W - LEFT - RIGHT) * ((place(v) - left) / (right - left || 1));
  const y = (v) => TOP + (H - TOP - BOTTOM) * (1 - (Number(v) - low) / (high - low));
  const parts = axis(h, low, high, y, amount);
  traces.forEach((trace, t) => {
    const joined = (trace.mode || "lines").includes("lines");
    const points = trace.x.map((v, i) => (trace.y[i] === null || trace.y[i] === undefined ? null : [x(v), y(trace.y[i])]));
    if (joined) parts.push(h("path", { key: `p${t}`, d: path(points), fill: "none", stroke: colourOf(figure, t), strokeWidth: 2 }));
    if (!joined || points.length <= 40) points.forEach((p, i) => p && parts.push(
      h("circle", { key: `c${t}.${i}`, cx: p[0], cy: p[1], r: joined ? 2.5 : 3.5, fill: colourOf(figure, t), fillOpacity: joined ? 1 : 0.65 },
        h("title", null, `${named(trace.x[i])}: ${trace.y[i]}`))));
  });
  const shown = labels || [...new Set(xs.map(String))].sort((a, b) => place(a) - place(b));
  return { parts: parts.concat(labelsBelow(h, shown.map(named), (i) => x(shown[i]))) };
}

function path(points) {
  let pen = "M";
  return points.map((p) => {
    if (!p) { pen = "M"; return ""; }
    const piece = `${pen}${p[0].toFixed(1)} ${p[1].toFixed(1)}`;
    pen = "L";
    return piece;
  }).join(" ");
}

function histogram(h, figure, amount) {
  const [trace] = figure.data, values = trace.x.map(Number).filter(Number.isFinite);
  if (!values.length) return null;
  const [low, high] = span(values, false), count = Math.min(20, Math.max(5, Math.ceil(Math.sqrt(values.length))));
  const size = (high - low) / count, bins = Array(count).fill(0);
  values.forEach((v) => { bins[Math.min(count - 1, Math.floor((v - low) / size))] += 1; });
  const counted = { ...trace, x: bins.map((_, i) => amount(low + i * size)), y: bins };
  return standing(h, { data: [counted], layout: { colorway: figure.layout?.colorway } }, tick);
}

function pie(h, { data: [trace] }, amount) {
  const { labels = [], values = [] } = trace, whole = values.reduce((a, v) => a + Number(v), 0);
  if (!(whole > 0)) return null;
  const parts = [], cx = 150, cy = 140, r = 110;
  let from = -Math.PI / 2;
  values.forEach((value, i) => {
    const to = from + (2 * Math.PI * Number(value)) / whole - 1e-4, large = to - from > Math.PI ? 1 : 0;
    const at = (angle) => `${(cx + r * Math.cos(angle)).toFixed(2)} ${(cy + r * Math.sin(angle)).toFixed(2)}`;
    parts.push(h("path", { key: `s${i}`, d: `M${cx} ${cy} L${at(from)} A${r} ${r} 0 ${large} 1 ${at(to)} Z`, fill: sliceColour(trace, i) }, h("title", null, `${unescaped(labels[i])}: ${value}`)));
    parts.push(h("rect", { key: `k${i}`, x: 320, y: 40 + i * 24, width: 12, height: 12, rx: 3, fill: sliceColour(trace, i) }));
    parts.push(h("text", { key: `t${i}`, x: 340, y: 51 + i * 24 }, `${shortened(unescaped(labels[i]), 30)}: ${amount(Number(value))}`));
    from = to + 1e-4;
  });
  return { parts };
}

function heatmap(h, figure, amount) {
  const { layout } = figure, { x = [], y = [], z = [] } = figure.data[0], [low, high] = span(z.flat(), false);
  const left = 120, wide = (W - left - RIGHT) / x.length, tall = Math.max(18, (H - TOP - BOTTOM) / y.length);
  const parts = [], across = x.map((one) => tickOf(layout?.xaxis, one)), down = y.map((one) => tickOf(layout?.yaxis, one));
  z.forEach((line, j) => line.forEach((value, i) => parts.push(h("rect", {
    key: `${j}.${i}`, x: left + i * wide, y: TOP + j * tall, width: wide - 1, height: tall - 1,
    fill: value === null ? "none" : colourOf(figure, 0), fillOpacity: 0.12 + 0.88 * ((Number(value) - low) / (high - low || 1)),
  }, h("title", null, `${down[j]}, ${across[i]}: ${value === null ? "–" : amount(Number(value))}`)))));
  down.forEach((label, j) => parts.push(h("text", { key: `y${j}`, x: left - 8, y: TOP + (j + 0.5) * tall + 4, textAnchor: "end" }, shortened(label, 18))));
  const bottom = TOP + y.length * tall;
  return { parts: parts.concat(labelsBelow(h, across, (i) => left + wide * (i + 0.5), bottom)), height: bottom + BOTTOM };
}

function axis(h, low, high, y, amount) {
  return niceTicks(low, high).flatMap((value, i) => [
    h("line", { key: `g${i}`, className: "axis", x1: LEFT, x2: W - RIGHT, y1: y(value), y2: y(value) }),
    h("text", { key: `a${i}`, x: LEFT - 8, y: y(value) + 4, textAnchor: "end" }, amount(value)),
  ]);
}

function labelsBelow(h, labels, x, bottom = H - BOTTOM) {
  const every = Math.ceil(labels.length / 12), slanted = labels.some((l) => String(l).length > 7) && labels.length > 5;
  return labels.flatMap((label, i) => {
    if (i % every) return [];
    const at = x(i), turned = slanted ? { transform: `rotate(-28 ${at} ${bottom + 16})`, textAnchor: "end" } : { textAnchor: "middle" };
    return [h("text", { key: `x${i}`, x: at, y: bottom + 16, ...turned }, shortened(label, 14))];
  });
}
