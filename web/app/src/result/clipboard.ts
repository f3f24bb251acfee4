// Rows as other programs take them from the clipboard: tab-separated text, and HTML for spreadsheets and mail.
import type { Row } from "~/api/model";
import { isNumeric, isTemporal, type ShownColumn } from "~/format";

export interface Copied {
  text: string;
  /** Empty for a large table. */
  html: string;
}

// A spreadsheet takes text that begins so for a formula, and runs it.
const FORMULA = /^[=+\-@\t\r\n]/;

/** A value as it is, not as it is shown. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function safeText(value: unknown, inert: boolean): string {
  const text = plainText(value);
  return !inert && FORMULA.test(text) ? `'${text}` : text;
}

/** What is to be copied: these columns of these rows, cell for cell. */
export interface Cells {
  columns: readonly ShownColumn[];
  rows: readonly Row[];
  /** With the names of the columns above. */
  header: boolean;
}

// A browser reads HTML through before it lets it onto the clipboard, which takes seconds for a large table.
const MOST_HTML_CELLS = 20_000;

export const isLarge = ({ columns, rows }: Cells): boolean => rows.length * columns.length > MOST_HTML_CELLS;

export function copiedTable(cells: Cells): Copied {
  const { columns, rows, header } = cells;
  const text = [...textPieces(cells)].join("");
  if (isLarge(cells)) return { html: "", text };
  const inert = inertColumns(columns);
  const head = header ? tableRow(columns, "th", ({ name }) => safeText(name, false)) : "";
  const body = rows.map((row) => tableRow(inert, "td", (safe, at) => safeText(row[at], safe)));
  return { html: `<table>${head}${body.join("")}</table>`, text };
}

const ROWS_IN_A_PIECE = 100;

/** The text, some rows at a time: whoever asks for it may let others work in between. */
export function* textPieces({ columns, rows, header }: Cells): Generator<string> {
  const inert = inertColumns(columns);
  if (header) yield columns.map(({ name }) => tabSafe(safeText(name, false))).join("\t");
  for (let from = 0; from < rows.length; from += ROWS_IN_A_PIECE) {
    let piece = header || from > 0 ? "\n" : "";
    const to = Math.min(from + ROWS_IN_A_PIECE, rows.length);
    for (let place = from; place < to; place += 1) {
      if (place > from) piece += "\n";
      const row = rows[place] ?? [];
      for (let at = 0; at < inert.length; at += 1) {
        if (at > 0) piece += "\t";
        const value = row[at];
        // A number needs no care, and there are many of them.
        piece += typeof value === "number" ? value : tabSafe(safeText(value, inert[at] ?? false));
      }
    }
    yield piece;
  }
}

const inertColumns = (columns: readonly ShownColumn[]): boolean[] =>
  columns.map((column) => isNumeric(column) || isTemporal(column) || column.kind === "boolean");

function tableRow<T>(cells: readonly T[], name: "th" | "td", say: (cell: T, at: number) => string): string {
  return `<tr>${cells.map((cell, at) => `<${name}>${escaped(say(cell, at))}</${name}>`).join("")}</tr>`;
}

function tabSafe(text: string): string {
  return /[\t\r\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

const PATIENCE_MS = 16;

/** The text of a large table, written down while the page goes on answering. */
export async function unhurriedText(cells: Cells): Promise<Blob> {
  const pieces: string[] = [];
  let since = performance.now();
  for (const piece of textPieces(cells)) {
    pieces.push(piece);
    if (performance.now() - since < PATIENCE_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  }
  return new Blob(pieces, { type: "text/plain" });
}

/** Without https there is no navigator.clipboard, whatever its type says. */
export function hasClipboard(): boolean {
  const clipboard: Clipboard | undefined = navigator.clipboard;
  return clipboard !== undefined && typeof ClipboardItem !== "undefined";
}

/** Needs a click or a key just before. Throws where the browser allows no copying at all. */
export async function toClipboard(cells: Cells): Promise<void> {
  if (hasClipboard()) {
    // Asked for at once, while the click still counts; the text may come later.
    const item = isLarge(cells) ? { "text/plain": unhurriedText(cells) } : partsOf(copiedTable(cells));
    return navigator.clipboard.write([new ClipboardItem(item)]);
  }
  const copied = copiedTable(cells);
  const fill = (event: ClipboardEvent) => fillClipboard(event, copied);
  document.addEventListener("copy", fill, { once: true, capture: true });
  const done = document.execCommand("copy");
  document.removeEventListener("copy", fill, { capture: true });
  if (!done) throw new Error("The browser does not allow copying.");
}

function partsOf({ text, html }: Copied): Record<string, Blob> {
  const part = (content: string, type: string) => new Blob([content], { type });
  return { "text/plain": part(text, "text/plain"), "text/html": part(html, "text/html") };
}

export function fillClipboard(
  event: Pick<ClipboardEvent, "clipboardData" | "preventDefault">,
  copied: Copied,
): void {
  event.clipboardData?.setData("text/plain", copied.text);
  if (copied.html) event.clipboardData?.setData("text/html", copied.html);
  event.preventDefault();
}
