// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed one by one cannot be those of a table element
// The rows on screen and a few more; the header stays in sight, and wide tables scroll inside themselves.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Row } from "~/api/model";
import { classes } from "~/ui";
import { BodyRow, ROW_HEIGHT } from "./body_row";
import { copiedTable, fillClipboard, hasClipboard, isLarge, plainText, toClipboard } from "./clipboard";
import type { TableColumn } from "./columns";
import { blockOf } from "./cursor";
import { GridHead } from "./grid_head";
import { useCursor } from "./use_cursor";
import type { ResultTable } from "./use_table";

interface GridProps {
  table: ResultTable;
  columns: readonly TableColumn[];
  rows: readonly Row[];
  places: readonly number[];
  filtersOpen: boolean;
  settling: boolean;
  className?: string | undefined;
  style?: CSSProperties | undefined;
  /** Of the rows, in words. */
  label: string;
  /** Why nothing was copied; nothing when it was. */
  onCopyError: (error: unknown) => void;
}

export const HEAD_HEIGHT = 45;
const NUMBER_PX = 44;
const NOT_COPIED =
  "The browser did not let the cells onto the clipboard. Downloading the rows works everywhere.";
const DIGIT_PX = 7;

export function Grid({
  table,
  columns,
  rows,
  places,
  filtersOpen,
  settling,
  className,
  style,
  label,
  onCopyError,
}: GridProps) {
  const gridId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(false);
  const virtual = useVirtualizer({
    count: places.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 6,
    scrollPaddingEnd: HEAD_HEIGHT,
  });
  const { cursor, handlers } = useCursor({
    scroller,
    rows: places.length,
    columns: columns.length,
    toRow: (row) => virtual.scrollToIndex(row),
  });
  // Another order is another table: it is read from its top.
  const first = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the rows are arranged anew
  useEffect(() => {
    if (!first.current) scroller.current?.scrollTo({ top: 0 });
    first.current = false;
  }, [places]);

  const sized = table.state.columnSizing;
  const numberWidth = Math.max(NUMBER_PX, String(rows.length).length * DIGIT_PX + 20);
  const { template, width } = useMemo(() => {
    let total = numberWidth;
    const parts = columns.map((_, at) => {
      const size = table.getColumn(String(at))?.getSize() ?? 0;
      total += size;
      return String(at) in sized ? `${size}px` : `minmax(${size}px, ${size}fr)`;
    });
    // What is left over after a change of widths stays empty.
    const rest = Object.keys(sized).length > 0 ? " 1fr" : "";
    return { template: `${numberWidth}px ${parts.join(" ")}${rest}`, width: total };
  }, [table, columns, sized, numberWidth]);

  const block = cursor && blockOf(cursor);
  const active = cursor && focused ? `${gridId}-${cursor.at.row}-${cursor.at.column}` : undefined;

  const copy = (event: React.ClipboardEvent) => {
    if (!block || event.target instanceof HTMLInputElement) return;
    const chosen = columns.slice(block.left, block.right + 1);
    const cells = places
      .slice(block.top, block.bottom + 1)
      .map((place) => (rows[place] ?? []).slice(block.left, block.right + 1));
    const copied = { columns: chosen, rows: cells, header: false };
    if (isLarge(copied) && hasClipboard()) {
      event.preventDefault();
      toClipboard(copied).then(
        () => onCopyError(null),
        (cause: unknown) => onCopyError(new Error(NOT_COPIED, { cause })),
      );
      return;
    }
    const one = cells.length === 1 && chosen.length === 1;
    // One value is wanted as it is; a block goes to a spreadsheet.
    fillClipboard(event, one ? { text: plainText(cells[0]?.[0]), html: "" } : copiedTable(copied));
  };

  return (
    <div
      ref={scroller}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={places.length + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable
      aria-busy={settling}
      {...(active ? { "aria-activedescendant": active } : {})}
      {...handlers}
      onFocus={(event) => setFocused(event.target === event.currentTarget)}
      onBlur={() => setFocused(false)}
      onCopy={copy}
      className={classes("group/grid peer relative overflow-auto outline-none", className)}
      style={{ ...style, "--columns": template } as CSSProperties}
    >
      <div style={{ width: `max(100%, ${width}px)` }}>
        <GridHead table={table} columns={columns} filtersOpen={filtersOpen} />
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index }) => {
            const place = places[index];
            const row = place === undefined ? undefined : rows[place];
            if (place === undefined || row === undefined) return null;
            const within = block !== null && index >= block.top && index <= block.bottom;
            return (
              <BodyRow
                key={index}
                columns={columns}
                row={row}
                index={index}
                place={place}
                gridId={gridId}
                left={within ? block.left : -1}
                right={within ? block.right : -1}
                active={cursor?.at.row === index ? cursor.at.column : -1}
                whole={focused && cursor?.at.row === index}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}
