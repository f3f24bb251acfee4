// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed one by one cannot be those of a table element
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active cell
import { ArrowDown, ArrowUp } from "lucide-react";
import { isNumeric } from "~/format";
import { classes, Input, Tooltip } from "~/ui";
import { kindWord, type TableColumn } from "./columns";
import { exampleOf, testOf } from "./filter";

export type Sorted = false | "asc" | "desc";

const ARIA = { asc: "ascending", desc: "descending" } as const;

interface HeadCellProps {
  column: TableColumn;
  at: number;
  sorted: Sorted;
  onSort: () => void;
  /** Nothing when the filters are put away. */
  filter: string | null;
  onFilter: (text: string) => void;
  onResize: (event: React.MouseEvent | React.TouchEvent) => void;
  onResetSize: () => void;
}

export function HeadCell({
  column,
  at,
  sorted,
  onSort,
  filter,
  onFilter,
  onResize,
  onResetSize,
}: HeadCellProps) {
  const right = isNumeric(column);
  const Arrow = sorted === "desc" ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      aria-colindex={at + 2}
      aria-sort={sorted ? ARIA[sorted] : "none"}
      data-head={at}
      className="group/head relative min-w-0 border-line border-r bg-panel last:border-r-0"
    >
      <Tooltip text={<About column={column} />}>
        <button
          type="button"
          onClick={onSort}
          className={classes(
            "flex w-full min-w-0 flex-col px-3 py-1 text-left -outline-offset-2 hover:bg-hover",
            right && "items-end text-right",
          )}
        >
          <span className={classes("flex max-w-full items-center gap-1", right && "flex-row-reverse")}>
            <span className="truncate font-medium text-ink">{column.name}</span>
            <Arrow
              aria-hidden
              className={classes(
                "size-3.5 shrink-0 text-accent",
                !sorted && "invisible text-ink-3 group-hover/head:visible",
              )}
            />
          </span>
          <span className="max-w-full truncate text-ink-3 text-small">{kindWord(column)}</span>
        </button>
      </Tooltip>
      {filter !== null && (
        <div className="px-1.5 pb-1.5">
          <Input
            label={`Filter ${column.name}`}
            value={filter}
            onChange={(event) => onFilter(event.target.value)}
            placeholder={exampleOf(column)}
            aria-invalid={testOf(filter, column) === null}
            title={`For example: ${exampleOf(column)}`}
            spellCheck={false}
            className="h-6 w-full rounded px-1.5 text-small"
          />
        </div>
      )}
      <div
        aria-hidden
        onMouseDown={onResize}
        onTouchStart={onResize}
        onDoubleClick={onResetSize}
        className="absolute inset-y-0 right-0 w-1.5 cursor-col-resize touch-none select-none hover:bg-accent/50"
      />
    </div>
  );
}

function About({ column }: { column: TableColumn }) {
  return (
    <span className="space-y-0.5">
      {column.description && <span className="block">{column.description}</span>}
      <span className="block text-ink-2">
        {kindWord(column)}
        {column.type && (
          <>
            {" · "}
            <span className="font-mono">{column.type}</span>
          </>
        )}
      </span>
    </span>
  );
}
