// Which colour and sign is which series. Plotly's own legend takes half of a narrow page.
import type { Figure } from "~/api/model";

const SIGNS: Record<string, string> = {
  circle: "●",
  square: "■",
  diamond: "◆",
  "triangle-up": "▲",
  x: "✕",
  cross: "✚",
  star: "★",
};

interface Entry {
  name: string;
  colour: string;
  sign: string;
}

/** Of a dressed figure. One series needs no legend. */
export function legendOf(figure: Figure): Entry[] {
  const entries = figure.data
    .filter((trace) => trace.showlegend !== false && typeof trace.name === "string")
    .map((trace): Entry => {
      const { color, symbol } = (trace.marker ?? {}) as { color?: unknown; symbol?: unknown };
      const sign = trace.type === "scatter" ? SIGNS[String(symbol ?? "circle")] : undefined;
      return { name: plain(String(trace.name)), colour: String(color ?? ""), sign: sign ?? "■" };
    });
  return entries.length > 1 ? entries : [];
}

/** What the server says was computed, such as "Revenue by month"; nothing for a figure without a title. */
export function computedTitle(figure: Figure): string {
  const title = (figure.layout as { title?: { text?: unknown } | null } | undefined)?.title;
  return typeof title?.text === "string" ? plain(title.text) : "";
}

/** What the server says below the title, such as that rows are missing. */
export function noteOf(figure: Figure): string {
  const title = (figure.layout as { title?: { subtitle?: { text?: unknown } } | null } | undefined)?.title;
  return typeof title?.subtitle?.text === "string" ? plain(title.subtitle.text) : "";
}

/** Whether its title says conditions and time, too; in figures of the first kind it is measures and groups alone. */
export function titleIsWhole(figure: Figure): boolean {
  return (figure.layout as { meta?: unknown } | undefined)?.meta !== "sandtable.chart/1";
}

/** Names in a figure are escaped for Plotly; React escapes them itself. */
export function plain(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll(/&#(x27|39);/g, "'")
    .replaceAll("&amp;", "&");
}

export function Legend({ entries }: { entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <ul
      aria-label="Series"
      className="flex flex-wrap gap-x-4 gap-y-1 border-t px-3 pt-2 text-ink-2 text-small"
    >
      {entries.map(({ name, colour, sign }) => (
        <li key={name} className="flex min-w-0 items-center gap-1.5">
          <span aria-hidden style={{ color: colour }}>
            {sign}
          </span>
          <span className="truncate">{name}</span>
        </li>
      ))}
    </ul>
  );
}
