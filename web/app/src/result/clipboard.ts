// Rows as other programs take them from the clipboard: tab-separated text, and HTML for spreadsheets and mail.
import type { Row } from "~/api/model";
import { kindOf, type ShownColumn } from "~/format";

export interface Copied {
  text: string;
  /** Empty for a large table. */
  html: string;
}

// A spreadsheet takes text that begins so for a formula, and runs it.
const FORMULA = /^[=+\-@\t\r\n]/;
const INERT: ReadonlySet<string> = new Set(["number", "boolean", "date", "timestamp"]);

/** A value as it is, not as it is shown. */
export function plainText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function safeText(value: unknown, inert: boolean): string {
  const text = plainText(value);
  return !inert && FORMULA.test(text) ? `'${text}` : text;
}

// A browser reads HTML through before it lets it onto the clipboard, which takes seconds for a large table.
const MOST_HTML_CELLS = 20_000;

export function copiedTable(
  columns: readonly ShownColumn[],
  rows: readonly Row[],
  { header = true }: { header?: boolean } = {},
): Copied {
  const head = header ? [columns.map((column) => safeText(column.name, false))] : [];
  const inert = columns.map((column) => INERT.has(kindOf(column.type)));
  const body = rows.map((row) => inert.map((safe, at) => safeText(row[at], safe)));
  const tag = (texts: readonly string[], name: "th" | "td") =>
    `<tr>${texts.map((text) => `<${name}>${escaped(text)}</${name}>`).join("")}</tr>`;
  const html =
    rows.length * columns.length <= MOST_HTML_CELLS
      ? `<table>${head.map((texts) => tag(texts, "th")).join("")}${body.map((texts) => tag(texts, "td")).join("")}</table>`
      : "";
  return {
    html,
    text: [...head, ...body].map((texts) => texts.map(tabSafe).join("\t")).join("\n"),
  };
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

/** Needs a click or a key just before. Throws where the browser allows no copying at all. */
export async function toClipboard(copied: Copied): Promise<void> {
  // Without https there is no navigator.clipboard, whatever its type says.
  const clipboard: Clipboard | undefined = navigator.clipboard;
  if (clipboard !== undefined && typeof ClipboardItem !== "undefined") {
    const part = (text: string, type: string) => new Blob([text], { type });
    await clipboard.write([
      new ClipboardItem({
        "text/plain": part(copied.text, "text/plain"),
        ...(copied.html ? { "text/html": part(copied.html, "text/html") } : {}),
      }),
    ]);
    return;
  }
  const fill = (event: ClipboardEvent) => fillClipboard(event, copied);
  document.addEventListener("copy", fill, { once: true, capture: true });
  const done = document.execCommand("copy");
  document.removeEventListener("copy", fill, { capture: true });
  if (!done) throw new Error("The browser does not allow copying.");
}

export function fillClipboard(
  event: Pick<ClipboardEvent, "clipboardData" | "preventDefault">,
  copied: Copied,
): void {
  event.clipboardData?.setData("text/plain", copied.text);
  if (copied.html) event.clipboardData?.setData("text/html", copied.html);
  event.preventDefault();
}
