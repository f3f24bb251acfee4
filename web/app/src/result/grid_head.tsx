// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed one by one cannot be those of a table element
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active cell
import type { TableColumn } from "./columns";
import { HeadCell } from "./head_cell";
import type { ResultTable } from "./use_table";

interface GridHeadProps {
  table: ResultTable;
  columns: readonly TableColumn[];
  filtersOpen: boolean;
}

export function GridHead({ table, columns, filtersOpen }: GridHeadProps) {
  const headers = table.getFlatHeaders();
  return (
    <div role="rowgroup" className="sticky top-0 z-20">
      <div
        role="row"
        aria-rowindex={1}
        className="grid border-line-strong border-b bg-panel"
        style={{ gridTemplateColumns: "var(--columns)" }}
      >
        <div role="columnheader" aria-colindex={1} className="border-line border-r bg-panel">
          <span className="sr-only">Row</span>
        </div>
        {headers.map((header, at) => {
          const column = columns[at];
          if (!column) return null;
          return (
            <HeadCell
              key={header.id}
              column={column}
              at={at}
              sorted={header.column.getIsSorted()}
              onSort={() => header.column.toggleSorting()}
              filter={filtersOpen ? String(header.column.getFilterValue() ?? "") : null}
              onFilter={(text) => header.column.setFilterValue(text || undefined)}
              onResize={(event) => {
                keepWidths(table, event.currentTarget);
                header.getResizeHandler()(event.nativeEvent);
              }}
              onResetSize={() => table.resetColumnSizing(true)}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Columns are as wide as there is room; from the first pull on they are as wide as they were seen. */
function keepWidths(table: ResultTable, handle: Element): void {
  const heads = handle.closest('[role="row"]')?.querySelectorAll<HTMLElement>("[data-head]") ?? [];
  table.setColumnSizing(
    Object.fromEntries(
      [...heads].map((head) => [head.dataset.head ?? "", head.getBoundingClientRect().width]),
    ),
  );
}
