/** Whether a text has places for artifacts. Small enough to be asked before anything of theirs is loaded. */
export const hasTags = (text: string): boolean =>
  /\[\[(?:table|plot|html|mermaid|markdown)-[1-9]\d{0,5}\]\]/.test(text);
