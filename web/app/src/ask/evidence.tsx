// What an answer rests on: the picture, then the rows, both of the same run.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { figureOf, type RunView } from "~/api/model";
import { runQuery } from "~/api/queries";
import { Chart } from "~/chart/chart";
import { computedTitle, titleIsWhole } from "~/chart/legend";
import { numbersOf } from "~/chart/numbers";
import { mainRunId, type Turn, type TurnTable } from "~/events/turn";
import { Result } from "~/result/result";
import { ErrorNote } from "~/ui";
import { EvidenceComing } from "./evidence_coming";
import { chartTitle } from "./wording";

export default function Evidence({ turn, datasetId }: { turn: Turn; datasetId: string | null }) {
  const light = turn.ending === "answered" && turn.table === null && mainRunId(turn) !== null;
  const run = useQuery({ ...runQuery(mainRunId(turn) ?? ""), enabled: light });
  const table = turn.table ?? (run.data ? tableOf(run.data) : null);
  const kept = useMemo(() => figureOf(run.data?.chart), [run.data]);
  const figure = turn.chart?.figure ?? kept;
  if (light && run.isPending) return <EvidenceComing rows={6} chart={false} />;
  if (light && run.error) return <ErrorNote error={run.error} onRetry={() => run.refetch()} />;
  if (!table || table.columns.length === 0) return null;
  const numbers = figure && numbersOf(figure);
  // The sentence comes after the rows and stands above them: until it is there, their place is kept.
  if (turn.ending === null && turn.text === "")
    return <EvidenceComing rows={table.rowCount} chart={figure !== null && numbers === null} />;
  const rows = (
    <Result
      run={{
        runId: table.runId,
        columns: table.columns,
        rows: table.rows,
        rowCount: table.rowCount,
        truncated: table.truncated,
        datasetId: datasetId ?? undefined,
      }}
    />
  );
  const single = numbers !== null && table.rowCount === 1;
  return (
    <div className="space-y-4">
      {figure && (
        <Chart
          runId={turn.chart?.runId ?? table.runId}
          figure={figure}
          columns={table.columns}
          rows={table.rows}
          title={chartTitle(computedTitle(figure), titleIsWhole(figure), turn)}
        />
      )}
      {single ? (
        // One row says what the number says: it is there for those who want to copy or to download it.
        <details>
          <summary className="cursor-pointer text-ink-2 text-small">Table</summary>
          <div className="mt-2">{rows}</div>
        </details>
      ) : (
        rows
      )}
    </div>
  );
}

function tableOf(run: RunRows): TurnTable | null {
  if (!run.rows) return null;
  return {
    runId: run.run_id,
    columns: run.columns,
    rows: run.rows,
    rowCount: run.row_count ?? run.rows.length,
    truncated: run.truncated,
  };
}

type RunRows = Pick<RunView, "run_id" | "columns" | "rows" | "row_count" | "truncated">;
