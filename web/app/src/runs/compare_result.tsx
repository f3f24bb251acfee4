import { useQuery } from "@tanstack/react-query";
import { Equal } from "lucide-react";
import { useMemo } from "react";
import { hasEnded, type Row, type RunView } from "~/api/model";
import { capsuleQuery } from "~/api/queries";
import { cell, count, isShare, type ShownColumn } from "~/format";
import { DiffTable } from "./diff_table";
import { digestsOf } from "./digests";
import { asDays, type ResultDiff, resultDiff, totalsOf } from "./result_diff";

interface Pair {
  a: RunView;
  b: RunView;
}

export function CompareResult({ a, b }: Pair) {
  return (
    <section aria-label="Result">
      <h2 className="mb-2 font-medium">Result</h2>
      {a.rows && b.rows ? <Results a={a} b={b} rowsA={a.rows} rowsB={b.rows} /> : <NoResult a={a} b={b} />}
    </section>
  );
}

function NoResult({ a, b }: Pair) {
  const without = [!a.rows && "A", !b.rows && "B"].filter(Boolean);
  const waiting = !hasEnded(a.status) || !hasEnded(b.status);
  return (
    <p className="rounded-md border p-3 text-ink-2">
      {waiting
        ? "One of them has not ended yet. The comparison appears here when it has."
        : `${without.length === 2 ? "Neither run has" : `Run ${without[0]} has no`} rows to compare${without.length === 2 ? "" : " with"}.`}
    </p>
  );
}

function Results({ a, b, rowsA, rowsB }: Pair & { rowsA: readonly Row[]; rowsB: readonly Row[] }) {
  const digest = useSameDigest(a, b);
  const diff = useMemo(
    () => resultDiff({ columns: a.columns, rows: rowsA }, { columns: b.columns, rows: rowsB }),
    [a.columns, b.columns, rowsA, rowsB],
  );
  const shown = useMemo(() => asDays(diff.columns, rowsA, rowsB), [diff.columns, rowsA, rowsB]);
  if (digest === true) {
    return (
      <p className="flex items-center gap-2 rounded-md border border-good/40 bg-good-soft p-3">
        <Equal aria-hidden className="size-4 shrink-0 text-good" />
        Same result: {count(rowsA.length, "row")}, with the same digest in both capsules.
      </p>
    );
  }
  return (
    <div className="space-y-3">
      <Summary diff={diff} />
      {(a.truncated || b.truncated) && (
        <p className="text-ink-2">
          At least one result was cut off at the row limit: rows beyond it are not compared.
        </p>
      )}
      <DiffTable diff={diff} columns={shown} />
      <Totals diff={diff} columns={shown} rowsA={rowsA} rowsB={rowsB} />
    </div>
  );
}

/** Nothing while it is not known: the rows are compared all the same. */
function useSameDigest(a: RunView, b: RunView): boolean | null {
  const [first, second] = [useQuery(capsuleQuery(a.run_id)).data, useQuery(capsuleQuery(b.run_id)).data];
  return useMemo(() => {
    const [one, other] = [first && digestsOf(first).result, second && digestsOf(second).result];
    return one && other ? one === other : null;
  }, [first, second]);
}

function Summary({ diff }: { diff: ResultDiff }) {
  const { counts, keys, columns, onlyInA, onlyInB } = diff;
  if (columns.length === 0) return <p className="text-ink-2">The two results have no column in common.</p>;
  const different = counts.changed + counts.onlyA + counts.onlyB;
  const parts = [
    counts.changed > 0 && `${count(counts.changed, "row")} changed`,
    counts.onlyA > 0 && `${count(counts.onlyA, "row")} only in A`,
    counts.onlyB > 0 && `${count(counts.onlyB, "row")} only in B`,
    counts.same > 0 && `${count(counts.same, "row")} the same`,
  ].filter(Boolean);
  return (
    <div className="space-y-1">
      <p>
        {different === 0
          ? `In the columns that both have, all ${count(counts.same, "row")} are the same.`
          : `${parts.join(", ")}.`}
      </p>
      <p className="text-ink-3 text-small">
        {keys.length > 0
          ? `Rows are matched by ${keys.join(", ")}.`
          : "No column names each row once, so whole rows are compared."}
        {onlyInA.length > 0 && ` Only A has ${onlyInA.join(", ")}.`}
        {onlyInB.length > 0 && ` Only B has ${onlyInB.join(", ")}.`}
      </p>
    </div>
  );
}

interface TotalsProps {
  diff: ResultDiff;
  columns: readonly ShownColumn[];
  rowsA: readonly Row[];
  rowsB: readonly Row[];
}

function Totals({ diff, columns, rowsA, rowsB }: TotalsProps) {
  const totals = totalsOf(diff.columns, rowsA, rowsB).filter((total) => !isShare(total));
  if (totals.length === 0) return null;
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 text-ink-2">
      {totals.map((total) => {
        const column = columns.find(({ name }) => name === total.name) ?? total;
        const [first, second] = [cell(total.a, column).text, cell(total.b, column).text];
        return (
          <div key={total.name} className="flex gap-2">
            <dt className="text-ink-3">Sum of {total.name}</dt>
            <dd>{first === second ? `${first} in both` : `${first} in A, ${second} in B`}</dd>
          </div>
        );
      })}
    </dl>
  );
}
