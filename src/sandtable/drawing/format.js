// How cells are shown. The cell itself is never changed: numbers only get separators.
const PLAIN = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });
const SHARE = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, notation: "compact" });
const NUMERIC = new Set(["integer", "decimal", "float"]);

// `kind` is the column's logical type, `unit` its unit; `fraction` is shown in percent.
export const isNumeric = ({ kind }) => NUMERIC.has(kind);

export function shown(cell, column) {
  if (cell === null || cell === undefined) return "–";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  if (isNumeric(column) && Number.isFinite(Number(cell)) && Math.abs(Number(cell)) < 1e15) {
    return column.unit === "fraction" ? `${SHARE.format(Number(cell) * 100)} %` : PLAIN.format(Number(cell));
  }
  if (typeof cell === "object") return JSON.stringify(cell);
  return String(cell);
}

export const percent = (value) => `${Number((value * 100).toPrecision(3))} %`;

export const plain = (value) => PLAIN.format(value);

export const tick = (value) => SHORT.format(value);

export function shortened(text, most = 22) {
  const whole = String(text ?? "–");
  return whole.length > most ? whole.slice(0, most - 1) + "…" : whole;
}
