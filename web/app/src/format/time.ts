// Moments in the viewer's zone and locale, and how long things took.
import { NONE } from "./number";

export interface TimeOptions {
  locale?: string | undefined;
  timeZone?: string | undefined;
}

interface MomentOptions extends TimeOptions {
  /** With the name of the month, as sentences have it. */
  long?: boolean;
  seconds?: boolean;
}

/** What is shown, and what was meant: the raw value belongs in `title`. */
export interface Shown {
  text: string;
  raw: string;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const ZONED = /(Z|[+-]\d\d(:?\d\d)?)$/;

/** A calendar day has no zone: it is the same day everywhere. */
export function date(value: unknown, { locale }: TimeOptions = {}): Shown {
  const raw = textOf(value);
  const parts = DATE.exec(raw.slice(0, 10));
  if (!parts) return { text: raw || NONE, raw };
  const day = new Date(Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])));
  return { text: formatter(locale, { dateStyle: "medium", timeZone: "UTC" }).format(day), raw };
}

/** A moment: with a zone it is shown in the viewer's, without one as it was written. */
export function time(
  value: unknown,
  { locale, timeZone, long = false, seconds = false }: MomentOptions = {},
): Shown {
  const raw = textOf(value);
  if (DATE.test(raw)) return date(raw, { locale });
  const zoned = ZONED.test(raw);
  const moment = new Date(zoned ? raw : `${raw.replace(" ", "T")}Z`);
  if (raw === "" || Number.isNaN(moment.getTime())) return { text: raw || NONE, raw };
  const zone = zoned ? timeZone : "UTC";
  const options: Intl.DateTimeFormatOptions = {
    dateStyle: long ? "long" : "medium",
    timeStyle: seconds ? "medium" : "short",
  };
  if (zone) options.timeZone = zone;
  return { text: formatter(locale, options).format(moment), raw };
}

/** For lists of what happened lately: `just now`, `5 min ago`, then the date. */
export function ago(value: string, now: number = Date.now(), options: TimeOptions = {}): Shown {
  const then = Date.parse(value);
  if (Number.isNaN(then)) return { text: value, raw: value };
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return { text: "just now", raw: value };
  if (minutes < 60) return { text: `${minutes} min ago`, raw: value };
  if (minutes < 24 * 60) return { text: `${Math.floor(minutes / 60)} h ago`, raw: value };
  return time(value, options);
}

export type Day = "Today" | "Yesterday" | "Previous 7 days" | "Older";

/** The group of a list that a moment belongs to, by the viewer's own days. */
export function dayOf(value: string, now: Date = new Date()): Day {
  const then = new Date(value);
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const before = (days: number) =>
    new Date(midnight.getFullYear(), midnight.getMonth(), midnight.getDate() - days);
  if (then >= midnight) return "Today";
  if (then >= before(1)) return "Yesterday";
  return then >= before(7) ? "Previous 7 days" : "Older";
}

/** 0.4 ms, 6 ms, 1.2 s, 2 min 5 s */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return NONE;
  if (ms < 1) return `${trimmed(ms, 1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${trimmed(ms / 1000, 1)} s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes, rest] = [
    Math.floor(seconds / 3600),
    Math.floor((seconds % 3600) / 60),
    seconds % 60,
  ];
  if (hours > 0) return minutes ? `${hours} h ${minutes} min` : `${hours} h`;
  return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
}

const made = new Map<string, Intl.DateTimeFormat>();

function formatter(locale: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale ?? ""}|${JSON.stringify(options)}`;
  const known = made.get(key);
  if (known) return known;
  const fresh = new Intl.DateTimeFormat(locale, options);
  made.set(key, fresh);
  return fresh;
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? "" : String(value);
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}

const MIDNIGHT = /^\d{4}-\d\d-\d\d[T ]00:00:00(\.0+)?(Z|\+00(:?00)?)?$/;

/**
 * Months and weeks come as timestamps: the hour says nothing when it is midnight in every row. With a zone it
 * is midnight in UTC, which is how buckets are cut; in another zone a month would begin on the last day of
 * the one before.
 */
export function areDays(cells: readonly unknown[]): boolean {
  return cells.every((cell) => cell === null || MIDNIGHT.test(String(cell)));
}

/** Whether it is a moment with a zone. */
export function hasZone(value: unknown): boolean {
  return typeof value === "string" && !DATE.test(value) && ZONED.test(value);
}

/** What the clock on the viewer's wall says at a moment with a zone, for axes that know none: `2025-06-01T16:30:00`. */
export function onTheWall(value: unknown, { timeZone }: TimeOptions = {}): unknown {
  const raw = textOf(value);
  if (DATE.test(raw) || !ZONED.test(raw)) return value;
  const moment = new Date(raw);
  if (Number.isNaN(moment.getTime())) return value;
  const options: Intl.DateTimeFormatOptions = { dateStyle: "short", timeStyle: "medium" };
  if (timeZone) options.timeZone = timeZone;
  // Sweden writes dates as computers do.
  return formatter("sv-SE", options).format(moment).replace(" ", "T");
}
