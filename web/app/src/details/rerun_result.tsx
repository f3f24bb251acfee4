// What an edited plan or SQL gave, beside the run it was made from.
import { ArrowLeft, GitCompareArrows } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { Link } from "react-router";
import { figureOf, type RunView } from "~/api/model";
import { Chart } from "~/chart/chart";
import { computedTitle } from "~/chart/legend";
import { Result } from "~/result/result";
import { places } from "~/shell";
import { Button } from "~/ui";
import { Section } from "./facts";
import { useOriginal, useShowRun } from "./rerun";

/** Above everything: this is not the run that was answered with. */
export function RerunStrip({ run }: { run: RunView }) {
  const original = useOriginal();
  const show = useShowRun();
  const strip = useRef<HTMLDivElement>(null);
  // The button that was pressed went with the run before.
  useEffect(() => {
    if (document.activeElement === document.body) strip.current?.focus();
  }, []);
  if (!original || original === run.run_id) return null;
  return (
    <div
      ref={strip}
      tabIndex={-1}
      className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-b bg-accent-soft px-4 py-1.5 text-small outline-none"
    >
      <span className="mr-auto text-ink-2">Your edited run</span>
      <Button kind="quiet" size="small" onClick={() => show(original)}>
        <ArrowLeft aria-hidden />
        Original
      </Button>
      <Link
        to={places.compare(original, run.run_id)}
        className="inline-flex h-7 items-center gap-1 text-accent underline-offset-2 hover:underline"
      >
        <GitCompareArrows aria-hidden className="size-4" />
        Compare with the original
      </Link>
    </div>
  );
}

export function RerunResult({ run }: { run: RunView }) {
  const original = useOriginal();
  const figure = useMemo(() => figureOf(run.chart), [run.chart]);
  if (!original || original === run.run_id || !run.rows) return null;
  return (
    <Section title="Its result">
      {figure && (
        <Chart
          runId={run.run_id}
          figure={figure}
          columns={run.columns}
          rows={run.rows}
          title={computedTitle(figure) || "Chart of the edited run"}
        />
      )}
      <Result
        run={{
          runId: run.run_id,
          columns: run.columns,
          rows: run.rows,
          truncated: run.truncated,
          rowCount: run.row_count ?? run.rows.length,
          datasetId: run.dataset_id,
        }}
      />
    </Section>
  );
}
