// Numbers as people read them. The decimal separator and the grouping are the viewer's.

export const NONE = "–";

export interface NumberOptions {
  /** As the catalog has it, such as `EUR`, `days`, `%`. */
  unit?: string;
  /** Decimals shown at most; without it, as many as the size of the number deserves. */
  digits?: number;
  /** Decimals shown at least, so that the numbers of a column stand below each other. */
  least?: number | undefined;
  locale?: string | undefined;
}

const CURRENCIES: Readonly<Record<string, string>> = {
  EUR: "EUR",
  USD: "USD",
  GBP: "GBP",
  CHF: "CHF",
  JPY: "JPY",
  "€": "EUR",
  $: "USD",
  "£": "GBP",
};

// Making one takes far longer than using one, and a table has thousands of cells.
const made = new Map<string, Intl.NumberFormat>();

function formatter(locale: string | undefined, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale ?? ""}|${JSON.stringify(options)}`;
  const known = made.get(key);
  if (known) return known;
  const fresh = new Intl.NumberFormat(locale, options);
  made.set(key, fresh);
  return fresh;
}

/** Long integers and decimals come as text; what is no finite number stays as it is. */
export function number(value: unknown, { unit = "", digits, least = 0, locale }: NumberOptions = {}): string {
  if (value === null || value === undefined || value === "") return NONE;
  const exact = exactDigits(value);
  if (exact === null) return String(value);
  const currency = CURRENCIES[unit];
  if (unit === "%") return `${formatter(locale, { maximumFractionDigits: digits ?? 1 }).format(exact)} %`;
  const decimals = digits ?? (currency ? 2 : fitting(exact));
  const options: Intl.NumberFormatOptions = { maximumFractionDigits: decimals };
  if (currency) {
    options.style = "currency";
    options.currency = currency;
    options.minimumFractionDigits = Math.min(
      decimals,
      Number.isInteger(Number(exact)) && digits === undefined ? 0 : 2,
    );
  }
  if (least > 0) {
    options.minimumFractionDigits = Math.max(least, options.minimumFractionDigits ?? 0);
    options.maximumFractionDigits = Math.max(least, decimals);
  }
  const shown = formatter(locale, options).format(exact);
  return unit && !currency ? `${shown} ${unit}` : shown;
}

/** A share of one as percent: 0.142 is 14.2 %. */
export function percent(value: unknown, { digits = 1, locale }: Omit<NumberOptions, "unit"> = {}): string {
  if (value === null || value === undefined) return NONE;
  const share = Number(value);
  if (!Number.isFinite(share)) return String(value);
  const shown = formatter(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${shown.format(share * 100)} %`;
}

/** For axes and badges: 12,345 is 12.3K. */
export function compact(value: unknown, { locale }: Pick<NumberOptions, "locale"> = {}): string {
  if (value === null || value === undefined) return NONE;
  const size = Number(value);
  if (!Number.isFinite(size)) return String(value);
  return formatter(locale, { notation: "compact", maximumSignificantDigits: 3 }).format(size);
}

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

export function bytes(
  value: number | null | undefined,
  { locale }: Pick<NumberOptions, "locale"> = {},
): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  let size = Math.abs(value);
  let step = 0;
  while (size >= 1000 && step < UNITS.length - 1) {
    size /= 1000;
    step += 1;
  }
  const digits = step === 0 || size >= 100 ? 0 : 1;
  return `${formatter(locale, { maximumFractionDigits: digits }).format(Math.sign(value) * size)} ${UNITS[step]}`;
}

/** One number with its noun: `1 row`, `2,310 rows`. */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

type Exact = Parameters<Intl.NumberFormat["format"]>[0];

// Intl takes decimal text as it is, so a long integer keeps every digit.
function exactDigits(value: unknown): Exact | null {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "string" && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return value as `${number}`;
  return null;
}

/** A decimal that came as text is exact, and keeps all it has. */
function fitting(exact: Exact): number {
  if (typeof exact === "string") return Math.min(exact.split(".")[1]?.length ?? 0, 20);
  const value = Number(exact);
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 10_000) return size >= 10_000 && !Number.isInteger(value) ? 1 : 0;
  if (size >= 1) return 2;
  return size >= 0.01 || size === 0 ? 4 : 8;
}
