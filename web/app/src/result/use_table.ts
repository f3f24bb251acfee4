// The state of one table, kept by TanStack Table: sorting, filters, widths. Rows are arranged by `arrange`, so
// that typing and clicking are answered at once and ten thousand rows follow when the browser has time.
import {
  type ColumnDef,
  columnFilteringFeature,
  columnResizingFeature,
  columnSizingFeature,
  globalFilteringFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { useDeferredValue, useMemo } from "react";
import type { Row } from "~/api/model";
import { arrange, Prepared, type View } from "./arrange";
import { LEAST_WIDTH, type TableColumn, widthOf } from "./columns";

const features = tableFeatures({
  rowSortingFeature,
  columnFilteringFeature,
  globalFilteringFeature,
  columnSizingFeature,
  columnResizingFeature,
});

type Features = typeof features;
type Data = unknown[];

// The table is never asked for rows: it would make an object for each.
const NO_DATA: Data[] = [];

export function useResultTable(columns: readonly TableColumn[], rows: readonly Row[]) {
  const definitions = useMemo(
    () =>
      columns.map(
        (column, at): ColumnDef<Features, Data> => ({
          // Two columns may have the same name.
          id: String(at),
          accessorFn: (row) => row[at],
          header: column.name,
          size: widthOf(column, at, rows),
          minSize: LEAST_WIDTH,
          maxSize: 1200,
          sortDescFirst: false,
          filterFn: () => true,
        }),
      ),
    [columns, rows],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: NO_DATA,
    manualSorting: true,
    manualFiltering: true,
    enableMultiSort: false,
    columnResizeMode: "onChange",
  });
  const { sorting, columnFilters, globalFilter } = table.state;
  const view = useMemo<View>(() => {
    const [sort] = sorting;
    return {
      sort: sort ? { at: Number(sort.id), descending: sort.desc } : null,
      filters: columnFilters.map(({ id, value }) => ({ at: Number(id), text: String(value) })),
      quick: String(globalFilter ?? ""),
    };
  }, [sorting, columnFilters, globalFilter]);
  const prepared = useMemo(() => new Prepared(columns, rows), [columns, rows]);
  const shown = useDeferredValue(view);
  const places = useMemo(() => arrange(prepared, shown), [prepared, shown]);
  return { table, view, places, settling: shown !== view, prepared };
}

export type ResultTable = ReturnType<typeof useResultTable>["table"];

export function clearFilters(table: ResultTable): void {
  table.resetColumnFilters(true);
  table.setGlobalFilter("");
}
