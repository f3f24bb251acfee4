// Small enough to be asked before anything of the artifacts is loaded. Pure.

const TAG = /\[\[((?:table|plot|html|mermaid|markdown)-[1-9]\d{0,5})\]\]/g;

/** The artifacts that a text has places for. */
export const tagsIn = (text: string): string[] => [...text.matchAll(TAG)].map(([, id = ""]) => id);

export const hasTags = (text: string): boolean => tagsIn(text).length > 0;

/** The words alone. */
export const withoutTags = (text: string): string =>
  text
    .replace(TAG, "")
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
