// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed one by one cannot be those of a table element
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names its active cell
import { Tooltip as Radix } from "radix-ui";
import { memo, useLayoutEffect, useRef, useState } from "react";
import type { Row } from "~/api/model";
import { cell, number, type ShownColumn } from "~/format";
import type { TableColumn } from "./columns";

export const ROW_HEIGHT = 32;

interface BodyRowProps {
  columns: readonly TableColumn[];
  row: Row;
  /** Among the rows that are shown. */
  index: number;
  /** In the result, from zero. */
  place: number;
  gridId: string;
  /** Columns of the selection in this row; -1 when none is. */
  left: number;
  right: number;
  /** The column of the cursor; -1 when it is in another row. */
  active: number;
  /** The cell at the cursor shows all it has. */
  whole: boolean;
}

export const BodyRow = memo(function BodyRow(props: BodyRowProps) {
  const { columns, row, index, place, gridId, left, right, active, whole } = props;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="absolute inset-x-0 top-0 grid border-line border-b hover:bg-hover/50"
      style={{
        gridTemplateColumns: "var(--columns)",
        height: ROW_HEIGHT,
        transform: `translateY(${index * ROW_HEIGHT}px)`,
      }}
    >
      <div
        role="rowheader"
        aria-colindex={1}
        className="select-none truncate border-line border-r bg-panel px-1.5 py-2 text-right text-ink-3 text-small"
      >
        {number(place + 1)}
      </div>
      {columns.map((column, at) => (
        <BodyCell
          // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have the same name
          key={at}
          id={`${gridId}-${index}-${at}`}
          column={column.cells}
          value={row[at]}
          index={index}
          at={at}
          selected={at >= left && at <= right}
          active={at === active}
          whole={whole && at === active}
        />
      ))}
    </div>
  );
});

interface BodyCellProps {
  id: string;
  column: ShownColumn;
  value: unknown;
  index: number;
  at: number;
  selected: boolean;
  active: boolean;
  whole: boolean;
}

// Put together by hand: there are hundreds of cells, and none of these contradict each other.
const CELL = "min-w-0 cursor-default select-none truncate px-3 py-1.5";
const ACTIVE =
  " group-focus/grid:outline-2 group-focus/grid:outline-accent group-focus/grid:-outline-offset-2";

// From here on a text is likely to be cut, and hovering shows it all.
const LONG = 24;

function BodyCell({ id, column, value, index, at, selected, active, whole }: BodyCellProps) {
  const shown = cell(value, column);
  const drawn = (
    <div
      id={id}
      role="gridcell"
      aria-colindex={at + 2}
      aria-selected={selected}
      data-row={index}
      data-column={at}
      title={whole ? undefined : (shown.title ?? (shown.text.length > LONG ? shown.text : undefined))}
      className={`${CELL}${shown.align === "right" ? " text-right" : ""}${shown.empty ? " text-ink-3" : ""}${selected ? " bg-accent-soft" : ""}${active ? ACTIVE : ""}`}
    >
      {shown.text}
    </div>
  );
  return whole ? (
    <Whole id={id} text={shown.text}>
      {drawn}
    </Whole>
  ) : (
    drawn
  );
}

/** The text of a cell that is too narrow for it. */
function Whole({ id, text, children }: { id: string; text: string; children: React.ReactElement }) {
  const [cut, setCut] = useState(false);
  const measured = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (measured.current === id + text) return;
    measured.current = id + text;
    const place = document.getElementById(id);
    setCut(place !== null && place.scrollWidth > place.clientWidth);
  }, [id, text]);
  return (
    <Radix.Root open={cut}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side="bottom"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-60 max-w-96 overflow-auto whitespace-pre-wrap break-words rounded-md border border-line-strong bg-page px-3 py-2 text-ink"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
