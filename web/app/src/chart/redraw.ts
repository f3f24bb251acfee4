// The same rows as another type of chart. Pure; nothing where the rows do not fit the type.
import type { Figure, Row } from "~/api/model";
import type { ShownColumn } from "~/format";
import {
  barFigure,
  heatmapFigure,
  histogramFigure,
  lineFigure,
  type Measures,
  pieFigure,
  scatterFigure,
} from "./figures";
import { MOST_SERIES } from "./palette";
import {
  type Field,
  isMoment,
  isOrdered,
  numberOf,
  type Shape,
  shapeOf,
  sourceOf,
  tellApart,
  valuesOf,
} from "./shape";

export const CHART_TYPES = ["bar", "hbar", "line", "area", "scatter", "pie", "heatmap", "histogram"] as const;
export type ChartType = (typeof CHART_TYPES)[number];

const MOST_BARS = 60;
const MOST_POINTS = 5000;
// Each in a colour of its own.
const MOST_SLICES = MOST_SERIES;
const MOST_ACROSS = 60;
const LEAST_FOR_HISTOGRAM = 12;

// Parts of these do not make a whole.
const NO_WHOLE =
  /(^|_)(avg|average|mean|median|min|max|rate|ratio|share|price|score|percent|pct|p\d\d?)(_|$)/i;

export function redraw(
  type: ChartType,
  columns: readonly ShownColumn[],
  rows: readonly Row[],
  figure: Figure | null = null,
): Figure | null {
  return drawing(type, shapeOf(columns, rows), figure)?.() ?? null;
}

/** The types that fit these rows, in the order they are offered. */
export function fittingTypes(columns: readonly ShownColumn[], rows: readonly Row[]): ChartType[] {
  const shape = shapeOf(columns, rows);
  return CHART_TYPES.filter((type) => drawing(type, shape, null) !== null);
}

/** Whether it fits is known before it is drawn: menus only ask. */
type Drawing = (() => Figure) | null;

function drawing(type: ChartType, shape: Shape, figure: Figure | null): Drawing {
  const measures = drawnMeasures(shape, figure);
  if (!measures || shape.rows < 2) return null;
  const [measure] = measures;
  switch (type) {
    case "bar":
    case "hbar":
      return bars(shape, measures, type === "hbar");
    case "line":
    case "area":
      return lines(shape, measures, type === "area");
    case "scatter":
      return points(shape, measure);
    case "pie":
      return slices(shape, measure);
    case "heatmap":
      return map(shape, measure);
    case "histogram":
      return shape.rows >= LEAST_FOR_HISTOGRAM ? () => histogramFigure(measure) : null;
  }
}

/** What the given figure shows, else the first amount. */
function drawnMeasures(shape: Shape, figure: Figure | null): Measures | null {
  const shown = new Set<Field>();
  for (const trace of figure?.data ?? []) {
    const source = sourceOf(valuesOf(trace), shape.measures);
    if (source) shown.add(source);
  }
  const [first, ...more] = shown.size > 0 ? shown : shape.measures.slice(0, 1);
  return first ? [first, ...more] : null;
}

function bars(shape: Shape, measures: Measures, sideways: boolean): Drawing {
  const { keys, rows } = shape;
  const [one, other, more] = keys;
  if (!one || more || rows > MOST_BARS || !tellApart(keys, rows)) return null;
  if (!other) return () => barFigure(one, null, measures, sideways);
  const [along, series] = one.distinct >= other.distinct ? [one, other] : [other, one];
  if (series.distinct > MOST_SERIES) return null;
  return () => barFigure(along, series, [measures[0]], sideways);
}

function lines(shape: Shape, measures: Measures, area: boolean): Drawing {
  const { keys, rows } = shape;
  if (keys.length > 2 || rows > MOST_POINTS || !tellApart(keys, rows)) return null;
  // Moments before years and hours: of a year and a month, the month goes along.
  const along = keys.find((key) => isMoment(key)) ?? keys.findLast((key) => isOrdered(key));
  if (!along || along.distinct < 2) return null;
  const series = keys.find((key) => key !== along) ?? null;
  // Filled areas hide one another.
  if (series && (area || series.distinct > MOST_SERIES)) return null;
  return () => lineFigure(along, series, series ? [measures[0]] : measures, area);
}

function points(shape: Shape, measure: Field): Drawing {
  const across = shape.measures.find((field) => field !== measure);
  if (!across || shape.rows > MOST_POINTS) return null;
  const groups = shape.keys.find((key) => key.distinct <= MOST_SERIES && key.distinct < shape.rows) ?? null;
  return () => scatterFigure(across, measure, groups, shape.keys[0] ?? null);
}

function slices(shape: Shape, measure: Field): Drawing {
  const [key, more] = shape.keys;
  if (!key || more || isOrdered(key) || shape.rows > MOST_SLICES || !tellApart([key], shape.rows))
    return null;
  const whole = measure.column.format !== "percent" && !NO_WHOLE.test(measure.column.name);
  return whole && measure.cells.every((cell) => (numberOf(cell) ?? 0) > 0)
    ? () => pieFigure(key, measure)
    : null;
}

function map(shape: Shape, measure: Field): Drawing {
  const [one, other, more] = shape.keys;
  if (!one || !other || more || shape.rows > MOST_POINTS || !tellApart([one, other], shape.rows)) return null;
  const timeFirst = isMoment(one) !== isMoment(other) ? isMoment(one) : one.distinct >= other.distinct;
  const [across, down] = timeFirst ? [one, other] : [other, one];
  if (across.distinct > MOST_ACROSS || down.distinct > MOST_ACROSS) return null;
  // Most pairs must be there, or the map is mostly holes.
  return shape.rows * 3 >= across.distinct * down.distinct
    ? () => heatmapFigure(across, down, measure)
    : null;
}

/** What the server drew, in the words of the switch. */
export function typeOf(figure: Figure | null): ChartType | null {
  const [trace] = figure?.data ?? [];
  if (!trace) return null;
  if (trace.type === "bar") return trace.orientation === "h" ? "hbar" : "bar";
  if (trace.type === "scatter") {
    if (!String(trace.mode ?? "lines").includes("lines")) return "scatter";
    return trace.fill && trace.fill !== "none" ? "area" : "line";
  }
  return CHART_TYPES.find((type) => type === trace.type) ?? null;
}
