// How high a chart is: as high as its bars need, and low enough that the first rows of the table are seen below it.
import type { Figure } from "~/api/model";

/** With its bar and legend. It is the same before and after the picture is there. */
export const CHART_HEIGHT = 280;

const BAR_HEIGHT = 41;
const LEGEND_HEIGHT = 25;
const MOST_OF_WINDOW = 0.36;
// As close as names can stand below each other, and bars beside each other, before the chart scrolls.
const NAME_PX = 15;
const BAR_PX = 9;
const AXIS_PX = 56;
const PANELS_PX = 416;

/** Of the picture alone. */
export interface Room {
  least: number;
  /** What is higher scrolls inside itself. */
  most: number;
}

/** A picture by itself takes the place it likes. */
export const SAVED: Room = { least: 320, most: Number.POSITIVE_INFINITY };

export function roomIn(windowHeight: number, legend: boolean): Room {
  const around = BAR_HEIGHT + (legend ? LEGEND_HEIGHT : 0);
  const most = Math.max(CHART_HEIGHT, Math.round(windowHeight * MOST_OF_WINDOW));
  return { least: CHART_HEIGHT - around, most: most - around };
}

/** A few panels are seen whole: what they share, their axis, is below the last one. */
export function roomFor(figure: Figure | null, room: Room): Room {
  return figure?.layout?.yaxis2 ? { ...room, most: Math.max(room.most, PANELS_PX) } : room;
}

/** A chart with many bars says how high it would like to be. Panels have the height that they ask for. */
export function heightOf(figure: Figure | null, { least, most }: Room): number {
  const own = Number(figure?.layout?.height) - BAR_HEIGHT;
  if (!Number.isFinite(own) || own <= least) return least;
  if (figure?.layout?.yaxis2) return own;
  return own <= most ? own : Math.min(own, Math.max(most, closest(figure)));
}

function closest(figure: Figure | null): number {
  const lengths = (figure?.data ?? []).map((trace) => (Array.isArray(trace.y) ? trace.y.length : 0));
  const bars = lengths.reduce((sum, length) => sum + length, 0);
  return AXIS_PX + Math.max(NAME_PX * Math.max(0, ...lengths), BAR_PX * bars);
}
