// A run's rows as a table.
import { useDeferredValue, useRef, useState } from "react";
import type { Row } from "~/api/model";
import type { ShownColumn } from "~/format";
import { classes, Dialog, ErrorNote } from "~/ui";
import { ROW_HEIGHT } from "./body_row";
import { Grid, HEAD_HEIGHT } from "./grid";
import { Nothing } from "./nothing";
import { TableBar } from "./table_bar";
import { clearFilters, useResultTable } from "./use_table";
import { useWhole } from "./use_whole";
import { rowsInWords } from "./words";

export interface ResultRun {
  runId: string;
  columns: readonly ShownColumn[];
  rows: readonly Row[];
  /** The query had more rows than the limit allows. */
  truncated: boolean;
  /** Rows of the whole result; `rows` may hold fewer while the rest is fetched. */
  rowCount: number;
  /** To look up descriptions. */
  datasetId?: string | undefined;
  /** False where the server has no files of these rows. */
  downloads?: boolean;
}

export interface ResultProps {
  run: ResultRun;
  className?: string;
}

const ROWS_INLINE = 10;
// A scroll bar at the bottom must not hide the last row.
const BAR_PX = 16;
export function Result({ run, className }: ResultProps) {
  // Sorting and filters belong to one run's columns.
  return <Table key={run.runId} run={run} className={className} />;
}

function Table({ run, className }: { run: ResultRun; className: string | undefined }) {
  const { columns, rows, error, retry } = useWhole(run);
  const { table, view, places, settling, prepared } = useResultTable(columns, rows);
  const [filtersOpen, setFiltersOpen] = useState(false);
  const [expanded, setExpanded] = useState(false);
  // The dialog opens and closes at once; the rows move over when there is time.
  const gridExpanded = useDeferredValue(expanded);
  const [copyError, setCopyError] = useState<unknown>(null);
  const preparing = useRef<(() => void) | null>(null);
  const filtering = view.quick !== "" || view.filters.length > 0;
  const words = rowsInWords({
    shown: places.length,
    here: rows.length,
    rowCount: run.rowCount,
    truncated: run.truncated,
  });
  const bar = (
    <TableBar
      runId={run.downloads === false ? null : run.runId}
      words={words}
      quick={view.quick}
      onQuick={(text) => table.setGlobalFilter(text)}
      onQuickFocus={() => {
        preparing.current?.();
        preparing.current = prepared.prepareWords();
      }}
      many={rows.length > ROWS_INLINE}
      filtersOpen={filtersOpen}
      onFiltersOpen={(open) => {
        setFiltersOpen(open);
        if (!open) table.resetColumnFilters(true);
      }}
      copied={() => ({ columns, rows: places.map((place) => rows[place] ?? []), header: true })}
      expanded={expanded}
      onExpand={() => setExpanded(true)}
    />
  );
  // The place is kept for all rows, so that filtering moves nothing below.
  const seen = Math.max(1, Math.min(rows.length, ROWS_INLINE)) + (rows.length > ROWS_INLINE ? 0.5 : 0);
  const height = HEAD_HEIGHT + (filtersOpen ? FILTER_PX : 0) + seen * ROW_HEIGHT;
  const grid = (inline: boolean) => (
    <div className="relative min-h-0 flex-1">
      <Grid
        table={table}
        columns={columns}
        rows={rows}
        places={places}
        filtersOpen={filtersOpen}
        settling={settling}
        label={`Result, ${words}`}
        onCopyError={setCopyError}
        className={inline ? undefined : "h-full"}
        style={
          inline
            ? { minHeight: height, maxHeight: rows.length > ROWS_INLINE ? height : height + BAR_PX }
            : undefined
        }
      />
      {/* What stays in sight inside the grid would cover its own outline. */}
      <div className="pointer-events-none absolute inset-0 z-30 rounded-b-md outline-accent -outline-offset-2 peer-focus-visible:outline-2" />
      {places.length === 0 && <Nothing filtering={filtering} onClear={() => clearFilters(table)} />}
    </div>
  );
  return (
    // No landmark: a page of many answers would have as many of one name. The grid says what it is.
    <div className={classes("flex min-w-0 flex-col overflow-hidden rounded-md border", className)}>
      {error && <ErrorNote error={error} onRetry={retry} className="m-2" />}
      {copyError !== null && <ErrorNote error={copyError} className="m-2" />}
      {bar}
      {gridExpanded ? <div style={{ height }} /> : grid(true)}
      <Dialog
        open={expanded}
        onOpenChange={setExpanded}
        title="Result"
        className="top-4 h-[calc(100dvh-32px)] max-h-none max-w-[calc(100vw-32px)]"
      >
        <div className="flex h-[calc(100dvh-120px)] flex-col overflow-hidden rounded-md border">
          {bar}
          {gridExpanded && grid(false)}
        </div>
      </Dialog>
    </div>
  );
}

const FILTER_PX = 30;
