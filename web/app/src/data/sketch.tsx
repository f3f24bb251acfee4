import { count } from "~/format";
import type { Bar, Distribution } from "./distribution";

/** A distribution small enough for a list: what it is in words is in its label. */
export function Sketch({ distribution }: { distribution: Distribution }) {
  if (distribution.kind === "unique") return <Words>every value is different</Words>;
  if (distribution.kind === "empty") return <Words>no values</Words>;
  if (distribution.kind === "unknown") return null;
  if (distribution.kind === "scale") return <Scale bars={distribution.bars} />;
  return <Shares bars={distribution.bars} others={distribution.others} />;
}

const Words = ({ children }: { children: string }) => (
  <span className="block text-ink-3 text-small leading-8">{children}</span>
);

export function Scale({ bars, className = "h-8 w-full" }: { bars: readonly Bar[]; className?: string }) {
  return (
    <svg
      role="img"
      aria-label={`Distribution over ${count(bars.length, "step")}`}
      viewBox={`0 0 ${bars.length} 1`}
      preserveAspectRatio="none"
      className={className}
    >
      {bars.map((bar, place) => (
        <rect
          key={bar.id}
          x={place + 0.08}
          width={0.84}
          // What is not nothing is seen.
          y={bar.count > 0 ? 1 - Math.max(bar.height, 0.04) : 1}
          height={bar.count > 0 ? Math.max(bar.height, 0.04) : 0}
          className="fill-accent"
        >
          <title>{`${bar.label}: ${count(bar.count, "row")}`}</title>
        </rect>
      ))}
    </svg>
  );
}

/** Values as parts of one bar. */
function Shares({ bars, others }: { bars: readonly Bar[]; others: number }) {
  const first = bars[0];
  const all = bars.reduce((sum, bar) => sum + bar.count, others);
  return (
    <span className="block">
      <span aria-hidden className="flex h-3 gap-px overflow-hidden rounded-sm">
        {bars.map((bar, place) => (
          <span
            key={bar.id}
            title={`${bar.label}: ${count(bar.count, "row")}`}
            className="h-full bg-accent"
            style={{ flexGrow: bar.count, opacity: Math.max(1 - place * 0.13, 0.3) }}
          />
        ))}
        {others > 0 && <span className="h-full bg-line-strong" style={{ flexGrow: others }} />}
      </span>
      {first && (
        <span className="mt-1 block truncate text-ink-3 text-small">
          {bars.length === 1 && others === 0
            ? `always ${first.label}`
            : `${first.count * 2 > all ? "mostly" : "most often"} ${first.label}`}
        </span>
      )}
    </span>
  );
}
