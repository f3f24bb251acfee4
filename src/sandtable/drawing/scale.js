// Ranges and ticks of an axis.
const DATE = /^\d{4}-\d{2}-\d{2}/;

export const isDate = (value) => typeof value === "string" && DATE.test(value) && !Number.isNaN(Date.parse(value));

export function span(values, withZero) {
  const numbers = values.filter((v) => v !== null && v !== undefined).map(Number).filter(Number.isFinite);
  if (withZero) numbers.push(0);
  const low = Math.min(...numbers), high = Math.max(...numbers);
  if (!Number.isFinite(low)) return [0, 1];
  if (low === high) return low === 0 ? [0, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
  if (withZero) return [low, high];
  const margin = (high - low) * 0.05;
  return [low - margin, high + margin];
}

export function niceTicks(low, high) {
  const raw = (high - low) / 4, size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * size).find((s) => s >= raw);
  const ticks = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) ticks.push(Number(value.toPrecision(12)));
  return ticks;
}
