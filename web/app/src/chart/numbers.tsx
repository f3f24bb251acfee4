// Single values as large numbers, each with the change that the figure says.
import type { Figure } from "~/api/model";
import { NONE, number, percent } from "~/format";
import { computedTitle, plain } from "./legend";

interface Shown {
  text: string;
  change: string;
  name: string;
}

type Part = Record<string, unknown>;

/** None for a figure that has anything else to show. */
export function numbersOf(figure: Figure): Shown[] | null {
  const traces = figure.data;
  return traces.length > 0 && traces.every(({ type }) => type === "indicator") ? traces.map(shown) : null;
}

function shown(trace: Part): Shown {
  const { prefix, suffix, valueformat } = part(trace.number);
  const { change, relative } = part(trace.meta);
  const amount = written(trace.value, text(valueformat));
  return {
    text: `${plain(text(prefix))}${amount}${plain(text(suffix))}`,
    change: typeof change === "number" ? signed(change, relative === true ? "%" : "") : "",
    name: plain(text(part(trace.title).text)),
  };
}

/** By the format that the figure has, in the viewer's signs. */
function written(value: unknown, format: string): string {
  if (typeof value !== "number" && typeof value !== "string") return NONE;
  if (format.endsWith("%")) return percent(value);
  return number(value, format === ",.2f" ? { digits: 2, least: 2 } : {});
}

function signed(change: number, format: string): string {
  return `${change > 0 ? "+" : ""}${written(change, format)}`;
}

export function Numbers({ figure, numbers }: { figure: Figure; numbers: readonly Shown[] }) {
  return (
    <figure className="min-w-0 rounded-md border px-4 py-3" aria-label={computedTitle(figure)}>
      <figcaption className="text-ink-2 text-small">{computedTitle(figure)}</figcaption>
      <NumberList numbers={numbers} />
    </figure>
  );
}

export function NumberList({ numbers }: { numbers: readonly Shown[] }) {
  return (
    <dl className="mt-1 flex flex-wrap items-end gap-x-8 gap-y-2">
      {numbers.map(({ text, change, name }, at) => (
        <div key={name || text} className="min-w-0">
          {name && <dt className="text-ink-2 text-small">{name}</dt>}
          <dd className={at === 0 ? "text-[32px] leading-10" : "text-[20px] leading-8"}>
            <span className="tabular-nums">{text}</span>
            {change && <span className="ml-2 text-body text-ink-2 tabular-nums">{change}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function part(value: unknown): Part {
  return typeof value === "object" && value !== null ? (value as Part) : {};
}
