// All that the profile knows of one column.
import type { ReactNode } from "react";
import type { ColumnProfile } from "~/api/model";
import { cell, count, isNumeric, isTemporal, number, percent, type ShownColumn } from "~/format";
import { type Bar, distributionOf, meanOf } from "./distribution";
import { Scale } from "./sketch";

interface ColumnFiguresProps {
  column: ShownColumn;
  profile: ColumnProfile;
  rows: number;
}

export function ColumnFigures({ column, profile, rows }: ColumnFiguresProps) {
  const mean = meanOf(column, profile);
  const ends = isNumeric(column) ? { least: "Lowest", most: "Highest" } : { least: "First", most: "Last" };
  const ordered = isNumeric(column) || isTemporal(column);
  const text = (value: unknown) => cell(value, column).text;
  return (
    <div className="grid gap-4 bg-panel px-3 pt-1 pb-4 md:grid-cols-[256px_1fr] md:pl-10">
      <dl className="grid h-fit grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <Figure name="Empty">
          {profile.nulls === 0
            ? "none"
            : `${percent(profile.nulls / Math.max(rows, 1))} (${number(profile.nulls)})`}
        </Figure>
        <Figure name="Different values">{number(profile.distinct)}</Figure>
        {ordered && (
          <>
            <Figure name={ends.least}>{text(profile.minimum)}</Figure>
            <Figure name={ends.most}>{text(profile.maximum)}</Figure>
          </>
        )}
        {mean && (
          <Figure name="Mean">
            {!mean.exact && "about "}
            {text(rounded(mean.value))}
          </Figure>
        )}
      </dl>
      <Picture column={column} profile={profile} rows={rows} />
    </div>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="break-words text-right md:text-left">{children}</dd>
    </>
  );
}

function Picture({ column, profile, rows }: ColumnFiguresProps) {
  const drawn = distributionOf(column, profile, rows, 10);
  if (drawn.kind === "empty") return <p className="text-ink-2">Every cell is empty.</p>;
  if (drawn.kind === "unique") return <p className="text-ink-2">Each value occurs once.</p>;
  if (drawn.kind === "unknown") {
    return <p className="text-ink-2">It has too many different values for a picture of all of them.</p>;
  }
  if (drawn.kind === "values") {
    return (
      <div>
        <Values bars={drawn.bars} rows={rows} />
        {drawn.otherValues > 0 && (
          <p className="mt-1 text-ink-3 text-small">
            {count(drawn.otherValues, "further value")} in {count(drawn.others, "row")}
          </p>
        )}
      </div>
    );
  }
  const [first, last] = [drawn.bars[0], drawn.bars.at(-1)];
  return (
    <div>
      <Scale bars={drawn.bars} className="h-24 w-full max-w-xl" />
      <p className="flex max-w-xl justify-between gap-4 border-t pt-1 text-ink-3 text-small">
        <span>{first?.label}</span>
        {last !== first && <span className="text-right">{last?.label}</span>}
      </p>
    </div>
  );
}

function Values({ bars, rows }: { bars: readonly Bar[]; rows: number }) {
  return (
    <ul className="max-w-xl space-y-1" aria-label="Most frequent values">
      {bars.map((bar) => (
        <li key={bar.id} className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto] items-center gap-3">
          <span className="truncate" title={bar.label}>
            {bar.label}
          </span>
          <span aria-hidden className="h-3 rounded-sm bg-accent" style={{ width: `${bar.height * 100}%` }} />
          <span className="text-right text-ink-2">
            {number(bar.count)}
            <span className="inline-block w-16 text-ink-3">{percent(bar.count / Math.max(rows, 1))}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A mean has no more than four digits worth reading. */
const rounded = (value: number) => Number(value.toPrecision(4));
