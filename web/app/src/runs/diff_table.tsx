import { useState } from "react";
import type { Row } from "~/api/model";
import { cell, isNumeric, type ShownColumn } from "~/format";
import { Button, classes } from "~/ui";
import type { ColumnPlace, ResultDiff, RowDiff } from "./result_diff";

const STEP = 100;

interface DiffTableProps {
  diff: ResultDiff;
  /** The shared columns, as they are shown. */
  columns: readonly ShownColumn[];
}

/** The rows that differ, first; those that are the same when asked for. */
export function DiffTable({ diff, columns }: DiffTableProps) {
  const [shown, setShown] = useState(STEP);
  const [all, setAll] = useState(false);
  const rows = diff.rows
    .map((row, place) => ({ row, id: place }))
    .filter(({ row }) => all || row.kind !== "same");
  if (diff.rows.length === 0) return null;
  return (
    <div className="space-y-2">
      {rows.length > 0 && (
        <section
          aria-label="Rows that differ"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="max-h-[480px] overflow-auto rounded-md border"
        >
          <table className="w-full">
            <thead className="sticky top-0 bg-panel">
              <tr className="border-b text-ink-2">
                <th scope="col" className="px-3 py-1.5 text-left font-medium">
                  <span className="sr-only">In which run</span>
                </th>
                {columns.map((column) => (
                  <th
                    key={column.name}
                    scope="col"
                    className={classes(
                      "whitespace-nowrap px-3 py-1.5 font-medium",
                      isNumeric(column) ? "text-right" : "text-left",
                    )}
                  >
                    {column.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, shown).map(({ row, id }) => (
                <DiffRow key={id} row={row} places={diff.columns} columns={columns} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      <div className="flex gap-2">
        {rows.length > shown && (
          <Button size="small" onClick={() => setShown(shown + STEP)}>
            Show more
          </Button>
        )}
        {diff.counts.same > 0 && (
          <Button size="small" kind="quiet" onClick={() => setAll(!all)}>
            {all ? "Hide the rows that are the same" : "Show the rows that are the same"}
          </Button>
        )}
      </div>
    </div>
  );
}

const WORDS: Readonly<Record<RowDiff["kind"], string>> = {
  same: "same",
  changed: "changed",
  onlyA: "only A",
  onlyB: "only B",
};
const LOOKS: Readonly<Record<RowDiff["kind"], string>> = {
  same: "",
  changed: "",
  onlyA: "bg-warning-soft",
  onlyB: "bg-accent-soft",
};

interface DiffRowProps {
  row: RowDiff;
  places: readonly ColumnPlace[];
  columns: readonly ShownColumn[];
}

function DiffRow({ row, places, columns }: DiffRowProps) {
  return (
    <tr className={classes("border-b last:border-0", LOOKS[row.kind])}>
      <th scope="row" className="whitespace-nowrap px-3 py-1.5 text-left font-normal text-ink-2 text-small">
        {WORDS[row.kind]}
      </th>
      {columns.map((column, at) => {
        const place = places[at];
        return place ? <DiffCell key={column.name} row={row} place={place} column={column} /> : null;
      })}
    </tr>
  );
}

function DiffCell({ row, place, column }: { row: RowDiff; place: ColumnPlace; column: ShownColumn }) {
  const first = "a" in row ? textOf(row.a, place.a, column) : null;
  const second = "b" in row ? textOf(row.b, place.b, column) : null;
  const changed = row.kind === "changed" && row.cells.includes(column.name);
  return (
    <td
      className={classes(
        "whitespace-nowrap px-3 py-1.5",
        isNumeric(column) && "text-right",
        changed && "font-medium",
      )}
    >
      {changed ? (
        <>
          <span className="rounded bg-warning-soft px-1">
            <span className="sr-only">A: </span>
            {first}
          </span>
          <span aria-hidden className="px-1 text-ink-3">
            →
          </span>
          <span className="rounded bg-accent-soft px-1">
            <span className="sr-only">B: </span>
            {second}
          </span>
        </>
      ) : (
        (first ?? second)
      )}
    </td>
  );
}

const textOf = (row: Row, place: number, column: ShownColumn) => cell(row[place], column).text;
