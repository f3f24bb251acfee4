// Moments inside a sentence. Only what says its own zone is a moment: days, months and clocks without a
// zone are the data's own and stay as they are.
import { type Shown, type TimeOptions, time } from "./time";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

// As the server says it, and as data and models write it.
const SAID = `(\\d{1,2}) (${MONTHS.join("|")}) (\\d{4}), (\\d\\d:\\d\\d(?::\\d\\d)?) UTC`;
const WRITTEN =
  "\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?(?: ?UTC|Z|[+-]\\d\\d:\\d\\d)";
const INSTANT = new RegExp(`(?<!\\w)(?:${SAID}|${WRITTEN})(?!\\w)`, "g");

export interface Instant extends Shown {
  iso: string;
}

/** The text in pieces, with every moment in the viewer's zone. One piece where it has none. */
export function instantsIn(text: string, options: TimeOptions = {}): (string | Instant)[] {
  const pieces: (string | Instant)[] = [];
  let after = 0;
  for (const found of text.matchAll(INSTANT)) {
    const instant = instantOf(found, options);
    if (!instant) continue;
    if (found.index > after) pieces.push(text.slice(after, found.index));
    pieces.push(instant);
    after = found.index + found[0].length;
  }
  if (after < text.length || pieces.length === 0) pieces.push(text.slice(after));
  return pieces;
}

function instantOf(found: RegExpExecArray, { locale, timeZone }: TimeOptions): Instant | null {
  const [raw, day, month, year, clock] = found;
  const iso =
    day && month && year && clock
      ? `${year}-${twoDigits(MONTHS.indexOf(month) + 1)}-${twoDigits(day)}T${clock}Z`
      : raw.replace(" ", "T").replace(/ ?UTC$/, "Z");
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return null;
  const seconds = moment.getUTCSeconds() !== 0;
  return { ...time(iso, { locale: english(locale), timeZone, long: true, seconds }), raw, iso };
}

/** The sentence around it is English; only its kind may be the viewer's. */
function english(locale: string = globalThis.navigator?.language ?? ""): string {
  return locale.startsWith("en") ? locale : "en-GB";
}

const twoDigits = (value: string | number): string => String(value).padStart(2, "0");
