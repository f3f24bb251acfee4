import { useMemo } from "react";
import { figureOf, hasEnded, type RunView } from "~/api/model";
import { pythonOf } from "~/artifact/python_of";
import { PythonRun } from "~/artifact/python_run";
import { Chart } from "~/chart/chart";
import { computedTitle } from "~/chart/legend";
import { Result } from "~/result/result";
import { CodeText } from "~/ui";
import { RunState } from "./run_state";
import { isMarked, RunTrouble } from "./run_trouble";
import { headingOf, titleOf } from "./run_words";
import { looksEmpty, WhyEmpty } from "./why_empty";

export function RunBody({ run }: { run: RunView }) {
  const title = titleOf(run);
  const python = pythonOf(run);
  return (
    <article className="space-y-4">
      <header className="space-y-2">
        <h2 className="break-words text-answer">{headingOf(run)}</h2>
        <RunState run={run} />
        {run.asked_by.name && <p className="text-ink-3 text-small">Asked by {run.asked_by.name}</p>}
      </header>
      {run.error && <RunTrouble run={run} error={run.error} />}
      {run.warnings.map((warning) => (
        <p key={warning} className="rounded-md border border-warning/40 bg-warning-soft p-3">
          {warning}
        </p>
      ))}
      {!hasEnded(run.status) && (
        <p className="flex h-80 items-center justify-center rounded-md border border-dashed text-ink-3">
          The result appears here.
        </p>
      )}
      {python === null ? (
        <>
          <Evidence run={run} title={title.text} />
          {looksEmpty(run) && <WhyEmpty key={run.run_id} run={run} />}
          <WhatRan run={run} />
        </>
      ) : (
        // A figure that code showed is drawn as an artifact, never as one of our own charts.
        <PythonRun
          run={run}
          code={python}
          rows={<Evidence run={{ ...run, chart: null }} title={title.text} />}
        />
      )}
    </article>
  );
}

/** Chart and table, both from the same rows. */
function Evidence({ run, title }: { run: RunView; title: string }) {
  const figure = useMemo(() => figureOf(run.chart), [run.chart]);
  if (!run.rows) return null;
  return (
    <>
      {figure && (
        <Chart
          runId={run.run_id}
          figure={figure}
          columns={run.columns}
          rows={run.rows}
          title={computedTitle(figure) || title}
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
    </>
  );
}

/** The SQL and, where there is one, the plan it was written from. Without a result they are what there is to see. */
function WhatRan({ run }: { run: RunView }) {
  // What was refused stands above, with the place marked.
  const shown = isMarked(run);
  if (shown && !run.plan) return null;
  const notes = typeof run.plan?.notes === "string" ? run.plan.notes : "";
  return (
    <details open={!run.rows && !shown}>
      <summary className="w-fit cursor-pointer text-ink-2 hover:text-ink">
        {shown ? "Plan" : run.plan ? "SQL and plan" : "SQL"}
        {run.origin && <span className="text-ink-3"> · proposed by {run.origin.proposer}</span>}
      </summary>
      <div className="mt-2 space-y-3">
        {notes && <p className="text-ink-2">{notes}</p>}
        {run.sql && !shown && <CodeText label="SQL" text={run.sql} />}
        {run.plan && <CodeText label="plan" text={JSON.stringify(run.plan, null, 2)} />}
      </div>
    </details>
  );
}
