// Moves the cell cursor with keys and pointer, and keeps it in sight.
import { type RefObject, useEffect, useState } from "react";
import { at, type Cursor, moved, type Spot } from "./cursor";

interface Options {
  scroller: RefObject<HTMLDivElement | null>;
  rows: number;
  columns: number;
  toRow: (row: number) => void;
}

const PAGE_ROWS = 10;

export function useCursor({ scroller, rows, columns, toRow }: Options) {
  const [cursor, setCursor] = useState<Cursor | null>(null);
  // Rows that are gone take the cursor with them.
  const valid = cursor && Math.max(cursor.at.row, cursor.from.row) < rows ? cursor : null;
  const column = valid?.at.column;

  useEffect(() => {
    if (column !== undefined && scroller.current) showColumn(scroller.current, column);
  }, [column, scroller]);

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.altKey) return;
    const press = { key: event.key, shift: event.shiftKey, mod: event.ctrlKey || event.metaKey };
    const first = valid === null && event.key.startsWith("Arrow");
    const next = first && rows > 0 ? at(0, 0) : moved(valid, press, { rows, columns, page: PAGE_ROWS });
    if (!next) return;
    event.preventDefault();
    setCursor(next);
    // Choosing everything is no reason to go to its end.
    if (!press.mod || press.key.toLowerCase() !== "a") toRow(next.at.row);
  };

  const onPointerDown = (event: React.PointerEvent) => {
    const spot = spotOf(event.target);
    if (!spot || event.button !== 0) return;
    setCursor((held) => (event.shiftKey && held ? { ...held, at: spot } : { at: spot, from: spot }));
  };

  const onPointerMove = (event: React.PointerEvent) => {
    // A finger that moves scrolls.
    if (event.buttons !== 1 || event.pointerType !== "mouse" || !valid) return;
    const spot = spotOf(event.target);
    if (!spot || (spot.row === valid.at.row && spot.column === valid.at.column)) return;
    setCursor({ ...valid, at: spot });
  };

  return { cursor: valid, handlers: { onKeyDown, onPointerDown, onPointerMove } };
}

function spotOf(target: EventTarget): Spot | null {
  const place = target instanceof Element ? target.closest<HTMLElement>("[data-row]") : null;
  return place ? { row: Number(place.dataset.row), column: Number(place.dataset.column) } : null;
}

/** The header's cell is always there, even where the row is not yet drawn. */
function showColumn(scroller: HTMLElement, column: number): void {
  const head = scroller.querySelector<HTMLElement>(`[data-head="${column}"]`);
  if (!head) return;
  const { left, right } = head.getBoundingClientRect();
  const box = scroller.getBoundingClientRect();
  const to = box.left + scroller.clientWidth;
  // The first column is shown with the numbers of the rows before it.
  if (column === 0) scroller.scrollLeft = 0;
  else if (left < box.left) scroller.scrollLeft -= box.left - left;
  else if (right > to) scroller.scrollLeft += Math.min(right - to, left - box.left);
}
