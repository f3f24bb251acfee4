// All that is known of a run's result: the rest of its rows where only the first were sent, and what its columns mean.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Row } from "~/api/model";
import { datasetQuery, runQuery } from "~/api/queries";
import type { ShownColumn } from "~/format";
import { describedColumns, type TableColumn } from "./columns";

interface Given {
  runId: string;
  columns: readonly ShownColumn[];
  rows: readonly Row[];
  rowCount: number;
  datasetId?: string | undefined;
}

interface Whole {
  columns: readonly TableColumn[];
  rows: readonly Row[];
  /** Of the rest. */
  error: Error | null;
  retry: () => void;
}

export function useWhole({ runId, columns, rows, rowCount, datasetId }: Given): Whole {
  const rest = useQuery({ ...runQuery(runId), enabled: rows.length < rowCount });
  // Without it the table is there all the same, only with fewer descriptions.
  const dataset = useQuery({ ...datasetQuery(datasetId ?? ""), enabled: Boolean(datasetId) });
  const fetched = rest.data?.rows;
  const all = fetched && fetched.length > rows.length ? fetched : rows;
  const described = useMemo(() => describedColumns(columns, dataset.data, all), [columns, dataset.data, all]);
  return {
    columns: described,
    rows: all,
    error: rest.error,
    retry: () => void rest.refetch(),
  };
}
