// What code printed, as it is shown. Pure.

const ONLY_TAG = /^[ \t]*\[\[(?:table|plot|html|mermaid|markdown)-[1-9]\d{0,5}\]\][ \t]*(?:\n|$)/gm;
const MOST = 20_000;

/** Without the lines that only say where an artifact was: those are drawn. A long text keeps its end. */
export function printed(text: string): string {
  const words = text.replace(ONLY_TAG, "").trimEnd();
  if (words.length <= MOST) return words;
  return `[the beginning is left out]\n${words.slice(words.indexOf("\n", words.length - MOST) + 1)}`;
}
