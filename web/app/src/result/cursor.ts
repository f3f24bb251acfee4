// The cell the keyboard is at, and the block of cells between it and where the selection began.

export interface Spot {
  /** Among the rows that are shown. */
  row: number;
  column: number;
}

export interface Cursor {
  at: Spot;
  /** The opposite corner of the selection; the same spot when one cell is selected. */
  from: Spot;
}

export interface Block {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

export interface Size {
  rows: number;
  columns: number;
  /** Rows that Page Up and Page Down go. */
  page: number;
}

export interface Press {
  key: string;
  shift: boolean;
  /** Ctrl, or ⌘ on a Mac. */
  mod: boolean;
}

export function blockOf({ at, from }: Cursor): Block {
  return {
    top: Math.min(at.row, from.row),
    bottom: Math.max(at.row, from.row),
    left: Math.min(at.column, from.column),
    right: Math.max(at.column, from.column),
  };
}

export const at = (row: number, column: number): Cursor => ({ at: { row, column }, from: { row, column } });

/** After a key; nothing when the key means nothing here. */
export function moved(cursor: Cursor | null, press: Press, size: Size): Cursor | null {
  if (size.rows === 0 || size.columns === 0) return null;
  const [lastRow, lastColumn] = [size.rows - 1, size.columns - 1];
  if (press.mod && press.key.toLowerCase() === "a") {
    return { at: { row: lastRow, column: lastColumn }, from: { row: 0, column: 0 } };
  }
  if (press.key === "Escape") return cursor && !isOne(cursor) ? at(cursor.at.row, cursor.at.column) : null;
  const { row, column } = cursor?.at ?? { row: 0, column: 0 };
  const target = targetOf({ row, column }, press, size.page, lastRow, lastColumn);
  if (!target) return null;
  const held = {
    row: Math.min(Math.max(target.row, 0), lastRow),
    column: Math.min(Math.max(target.column, 0), lastColumn),
  };
  return press.shift && cursor ? { at: held, from: cursor.from } : { at: held, from: held };
}

function isOne({ at: one, from }: Cursor): boolean {
  return one.row === from.row && one.column === from.column;
}

function targetOf(
  { row, column }: Spot,
  { key, mod }: Press,
  page: number,
  lastRow: number,
  lastColumn: number,
): Spot | null {
  switch (key) {
    case "ArrowUp":
      return { row: mod ? 0 : row - 1, column };
    case "ArrowDown":
      return { row: mod ? lastRow : row + 1, column };
    case "ArrowLeft":
      return { row, column: mod ? 0 : column - 1 };
    case "ArrowRight":
      return { row, column: mod ? lastColumn : column + 1 };
    case "PageUp":
      return { row: row - page, column };
    case "PageDown":
      return { row: row + page, column };
    case "Home":
      return { row: mod ? 0 : row, column: 0 };
    case "End":
      return { row: mod ? lastRow : row, column: lastColumn };
    default:
      return null;
  }
}
