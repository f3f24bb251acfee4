// A stranger's Plotly figure without whatever could load, link or change it later. Pure.
// The page's policy blocks every remote load as well: this keeps such loads from being tried.
import type { Figure } from "~/api/model";

type Fields = Record<string, unknown>;

export interface SafeFigure {
  figure: Figure;
  /** Kinds of traces that are not drawn here, such as maps. */
  left: string[];
}

/** What the loaded part of Plotly draws. Anything else it would draw as something that it is not. */
const DRAWN: ReadonlySet<string> = new Set([
  "bar",
  "box",
  "contour",
  "heatmap",
  "histogram",
  "histogram2d",
  "histogram2dcontour",
  "image",
  "pie",
  "scatter",
  "scatterternary",
  "violin",
]);

/** Maps fetch their tiles and shapes; buttons, sliders and frames change what was looked through here. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "mapbox",
  "map",
  "geo",
  "updatemenus",
  "sliders",
  "frames",
  "config",
  "__proto__",
  "constructor",
  "prototype",
]);

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i;
const DEEPEST = 24;

export function safeFigure({ data, layout = {} }: Figure): SafeFigure {
  const left = new Set<string>();
  const kept: Fields[] = [];
  for (const trace of data) {
    const drawn = asDrawn(trace);
    if (!DRAWN.has(typeOf(drawn))) left.add(typeOf(drawn));
    else if (typeOf(drawn) !== "image" || drawn.source === undefined || isPicture(drawn.source))
      kept.push(safe(drawn) as Fields);
    else left.add("picture from elsewhere");
  }
  return { figure: { data: kept, layout: safe(layout) as Fields }, left: [...left] };
}

const typeOf = ({ type }: Fields): string => (typeof type === "string" ? type : "scatter");

/** Many points are drawn on the graphics card where that is to be had; the same picture is made without it. */
function asDrawn(trace: Fields): Fields {
  return trace.type === "scattergl" ? { ...trace, type: "scatter" } : trace;
}

const picturesOf = (images: unknown): unknown[] =>
  Array.isArray(images) ? images.filter((one) => isPicture((one as Fields | null)?.source)) : [];

const isPicture = (source: unknown): boolean => typeof source === "string" && PICTURE.test(source);

function safe(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return safeText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEEPEST) return null;
  if (Array.isArray(value)) return value.map((one) => safe(one, depth + 1));
  const made: Fields = {};
  for (const [name, one] of Object.entries(value)) {
    if (LEFT_OUT.has(name)) continue;
    if (name === "source") made[name] = isPicture(one) ? one : "";
    else made[name] = safe(name === "images" ? picturesOf(one) : one, depth + 1);
  }
  return made;
}

/** `<extra>` is what Plotly writes beside a hovering label. */
const FORMATTING = /(<\/?(?:b|i|em|strong|sub|sup|s|u|extra)>|<br\s*\/?>)/i;
const ANY_TAG = /<\/?[a-z][^<>]*>/gi;

/**
 * Text in a figure may hold links and styles, which may load and lead elsewhere: formatting stays, other tags go,
 * and a bracket that is left stands for itself. A template can put a tag together only from such a bracket.
 */
export function safeText(text: string): string {
  if (!text.includes("<")) return text;
  return text
    .split(FORMATTING)
    .map((piece, at) => (at % 2 === 1 ? piece : withoutTags(piece).replaceAll("<", "&lt;")))
    .join("");
}

function withoutTags(text: string): string {
  const once = text.replace(ANY_TAG, "");
  return once === text ? text : withoutTags(once);
}
