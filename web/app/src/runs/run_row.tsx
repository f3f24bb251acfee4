import { Link } from "react-router";
import { hasEnded, type RunView } from "~/api/model";
import { ago, count, duration, number, time } from "~/format";
import { places } from "~/shell";
import { classes, StatusDot } from "~/ui";
import type { Mark } from "./run_marks";
import { titleOf, tookMs } from "./run_words";

interface RunRowProps {
  run: RunView;
  mark: Mark | null;
  now: number;
  /** Whether there is room for columns; else a run takes two lines. */
  wide: boolean;
  picked: boolean;
  onPick: () => void;
}

export function RunRow({ run, mark, now, wide, picked, onPick }: RunRowProps) {
  const title = titleOf(run);
  return (
    <li className={classes("flex border-b", picked && "bg-accent-soft")}>
      <label className="flex shrink-0 cursor-pointer items-start px-2 pt-3 lg:items-center lg:pt-0">
        <input
          type="checkbox"
          checked={picked}
          onChange={onPick}
          aria-label={`Choose for comparing: ${title.text}${mark ? `, ${mark}` : ""}`}
          className="size-4 accent-accent"
        />
      </label>
      <Link
        to={places.run(run.run_id)}
        className="flex min-w-0 flex-1 flex-col gap-x-4 px-2 py-2.5 transition-colors hover:bg-hover lg:flex-row lg:items-baseline"
      >
        {wide && <StatusDot status={run.status} className="w-24 shrink-0 text-small" />}
        <span className="flex min-w-0 flex-1 items-baseline gap-3">
          <span className={classes("min-w-0 flex-1 truncate", title.code && "font-mono text-[13px]")}>
            {title.text}
          </span>
          {wide && mark && <Badge>{mark}</Badge>}
          {!wide && <When run={run} now={now} />}
        </span>
        <Facts run={run} mark={mark} now={now} wide={wide} />
      </Link>
    </li>
  );
}

const Badge = ({ children }: { children: string }) => (
  <span className="shrink-0 rounded border px-1 text-ink-3 text-small">{children}</span>
);

function Facts({ run, mark, now, wide }: Omit<RunRowProps, "picked" | "onPick">) {
  const rows = run.row_count;
  return (
    <span className="mt-0.5 flex flex-wrap gap-x-2 text-ink-3 text-small lg:mt-0 lg:shrink-0 lg:flex-nowrap lg:gap-x-4">
      {!wide && <StatusDot status={run.status} />}
      <span className="lg:w-24 lg:truncate">{run.dataset_id}</span>
      <span className="empty:hidden lg:w-16 lg:text-right lg:empty:block">
        {rows !== null && (run.truncated ? `first ${number(rows)}` : count(rows, "row"))}
      </span>
      <span className="empty:hidden lg:w-16 lg:text-right lg:empty:block">{took(run, now)}</span>
      <span className="empty:hidden lg:w-14 lg:empty:block">
        {run.cached_from && <Badge>cached</Badge>}
        {run.mode === "dry_run" && <Badge>dry run</Badge>}
      </span>
      {!wide && mark && <Badge>{mark}</Badge>}
      {wide && <When run={run} now={now} className="w-28 text-right" />}
    </span>
  );
}

function When({ run, now, className }: { run: RunView; now: number; className?: string }) {
  return (
    <time
      dateTime={run.created_at}
      title={time(run.created_at).text}
      className={classes("shrink-0 whitespace-nowrap text-ink-3 text-small", className)}
    >
      {ago(run.created_at, now).text}
    </time>
  );
}

function took(run: RunView, now: number): string {
  const ms = tookMs(run, now);
  if (ms === null) return "";
  // The parts of a second are for what has ended: while it runs they only flicker.
  return hasEnded(run.status) ? duration(ms) : duration(Math.floor(ms / 100) * 100);
}
