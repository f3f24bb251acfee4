import { Skeleton } from "~/ui";

// As high as the chart and a row of the table are. Their own files come with the first answer, this one before.
const CHART = 280;
const ROW = 33;
const ROWS_SHOWN = 12;

/** Keeps the place of a chart and of so many rows. */
export function EvidenceComing({ rows, chart }: { rows: number; chart: boolean }) {
  return (
    <div className="space-y-4">
      {chart && (
        <div style={{ height: CHART }}>
          <Skeleton className="h-full" />
        </div>
      )}
      <div style={{ height: ROW * (Math.min(rows, ROWS_SHOWN) + 1) }}>
        <Skeleton className="h-full" />
      </div>
    </div>
  );
}
