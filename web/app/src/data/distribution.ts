// What a column's profile looks like as bars. Pure: the drawing is in distribution.tsx.
import type { ColumnProfile } from "~/api/model";
import { cell, date, isNumeric, isTemporal, type ShownColumn, time } from "~/format";

export interface Bar {
  /** Its place: two values may look the same. */
  id: string;
  label: string;
  count: number;
  /** Of the longest bar, from 0 to 1. */
  height: number;
}

export type Distribution =
  /** A scale from left to right: numbers, days. */
  | { kind: "scale"; bars: Bar[] }
  /** The most frequent values; `others` rows have `otherValues` further values. */
  | { kind: "values"; bars: Bar[]; others: number; otherValues: number }
  | { kind: "unique" }
  | { kind: "empty" }
  /** There is no picture of it: the profile keeps too little. */
  | { kind: "unknown" };

const FEW = 12;
const PERIODS = 24;
const DAY_MS = 86_400_000;

export function distributionOf(
  column: ShownColumn,
  profile: ColumnProfile,
  rows: number,
  most = 6,
): Distribution {
  const filled = rows - profile.nulls;
  if (filled <= 0 || profile.distinct === 0) return { kind: "empty" };
  const unique = profile.distinct === filled && filled > most;
  if (isNumeric(column)) {
    if (unique && column.kind === "integer") return { kind: "unique" };
    return numbers(column, profile);
  }
  if (isTemporal(column)) return moments(profile, column.kind === "date");
  if (unique) return { kind: "unique" };
  if (profile.values.length === 0) return { kind: "unknown" };
  return values(column, profile, filled, most);
}

function numbers(column: ShownColumn, profile: ColumnProfile): Distribution {
  if (profile.complete && profile.distinct <= FEW) {
    const inOrder = profile.values.toSorted((a, b) => Number(a.value) - Number(b.value));
    return scale(inOrder.map(({ value, count }) => ({ label: cell(value, column).text, count })));
  }
  if (profile.histogram.length === 0) return { kind: "unknown" };
  return scale(
    profile.histogram.map(({ low, high, count }) => ({
      label: `${cell(low, column).text} to ${cell(high, column).text}`,
      count,
    })),
  );
}

/** Days have no histogram of their own; where all of them are known, they are counted in equal periods. */
function moments(profile: ColumnProfile, days: boolean): Distribution {
  const known = profile.values
    .map(({ value, count }) => ({ at: Date.parse(zoned(String(value))), count }))
    .filter(({ at }) => !Number.isNaN(at));
  if (!profile.complete || known.length !== profile.values.length) return { kind: "unknown" };
  const first = Math.min(...known.map(({ at }) => at));
  const last = Math.max(...known.map(({ at }) => at));
  const grain = days ? DAY_MS : 1;
  const width = Math.max(Math.ceil((last - first + grain) / PERIODS / grain), 1) * grain;
  const bins = Array.from({ length: Math.floor((last - first) / width) + 1 }, () => 0);
  for (const { at, count } of known) {
    const place = Math.floor((at - first) / width);
    bins[place] = (bins[place] ?? 0) + count;
  }
  return scale(
    bins.map((count, place) => {
      const from = momentText(first + place * width, days);
      const to = momentText(Math.min(first + (place + 1) * width - grain, last), days);
      return { label: from === to ? from : `${from} to ${to}`, count };
    }),
  );
}

function values(column: ShownColumn, profile: ColumnProfile, filled: number, most: number): Distribution {
  // One more bar is shorter than the line that says there is one more value.
  const shown = profile.values.slice(0, profile.distinct === most + 1 ? most + 1 : most);
  const counted = shown.reduce((sum, { count }) => sum + count, 0);
  return {
    kind: "values",
    bars: bars(shown.map(({ value, count }) => ({ label: cell(value, column).text, count }))),
    others: filled - counted,
    otherValues: profile.distinct - shown.length,
  };
}

const scale = (counts: { label: string; count: number }[]): Distribution => ({
  kind: "scale",
  bars: bars(counts),
});

function bars(counts: readonly { label: string; count: number }[]): Bar[] {
  const longest = Math.max(...counts.map(({ count }) => count), 1);
  return counts.map(({ label, count }, place) => ({
    id: String(place),
    label,
    count,
    height: count / longest,
  }));
}

const zoned = (text: string) =>
  /T|\s/.test(text) && !/(Z|[+-]\d\d:?\d\d)$/.test(text) ? `${text.replace(" ", "T")}Z` : text;

function momentText(at: number, days: boolean): string {
  const text = new Date(at).toISOString();
  return days ? date(text.slice(0, 10)).text : time(text.slice(0, 19)).text;
}

/** The mean of a number column: exact where all values are known, else from the middles of the histogram. */
export function meanOf(
  column: ShownColumn,
  profile: ColumnProfile,
): { value: number; exact: boolean } | null {
  if (!isNumeric(column)) return null;
  if (profile.complete && profile.values.length > 0) {
    const value = weighted(profile.values.map((one) => [Number(one.value), one.count]));
    return value === null ? null : { value, exact: true };
  }
  const value = weighted(profile.histogram.map(({ low, high, count }) => [(low + high) / 2, count]));
  return value === null ? null : { value, exact: false };
}

function weighted(pairs: readonly (readonly [number, number])[]): number | null {
  const total = pairs.reduce((sum, [, count]) => sum + count, 0);
  const mean = pairs.reduce((sum, [value, count]) => sum + value * count, 0) / total;
  return Number.isFinite(mean) ? mean : null;
}
