import type { UseQueryResult } from "@tanstack/react-query";
import type { Dataset, DatasetSchema, Table } from "~/api/model";
import { catalogColumn, type ShownColumn } from "~/format";
import { Result } from "~/result/result";
import { ErrorNote, SkeletonLines } from "~/ui";

interface SampleRowsProps {
  dataset: Dataset;
  table: Table;
  schema: UseQueryResult<DatasetSchema>;
}

export function SampleRows({ dataset, table, schema }: SampleRowsProps) {
  const sample = schema.data?.tables.find((one) => one.name === table.name)?.sample;
  const known = new Map(table.columns.map((column) => [column.name, catalogColumn(column)]));
  const columns = (sample?.columns ?? []).map(
    (name): ShownColumn => known.get(name) ?? { name, kind: "text" },
  );
  return (
    <div className="border-t p-3">
      <h3 className="mb-2 text-ink-2">Sample rows</h3>
      {schema.isPending && <SkeletonLines lines={6} label="Loading sample rows" />}
      {schema.error && <ErrorNote error={schema.error} onRetry={() => schema.refetch()} />}
      {sample?.error && <ErrorNote error={sample.error} onRetry={() => schema.refetch()} />}
      {sample && !sample.error && (
        <Result
          run={{
            runId: sample.run_id ?? "",
            columns,
            rows: sample.rows,
            truncated: false,
            rowCount: sample.rows.length,
            datasetId: dataset.id,
          }}
        />
      )}
    </div>
  );
}
