// The text of a diagram without what would load something or change how it is drawn. Pure.
// It is drawn by strict rules and shown as an image; this keeps loads from being tried while it is measured.

const CONFIGURED = /^\s*---\s*\n[\s\S]*?\n\s*---\s*(?:\n|$)/;
const DIRECTIVE = /%%\s*\{[\s\S]*?\}\s*%%/g;
/** `<<interface>>` and arrows are the diagram's own. */
const LOADING =
  "(?:img|image|picture|svg|iframe|object|embed|video|audio|source|track|link|script|style|a|input|form|base|meta|body|math|use)\\b";
const TAG = new RegExp(`</?\\s*${LOADING}[^<>\\n]*>`, "gi");
/** One that is not closed here may be closed by what is written around it. */
const OPEN_TAG = new RegExp(`<(?=/?\\s*${LOADING})`, "gi");
const CLICK = /^\s*(?:click|link|links)\s.*$/gim;
const SHAPE_PICTURE = /\b(?:img|icon)\s*:\s*(?:"[^"]*"|'[^']*'|[^,}\n]*)/gi;
const ADDRESS = /\burl\s*\(/gi;

export function safeDiagram(text: string): string {
  const once = text
    .replace(CONFIGURED, "")
    .replace(DIRECTIVE, "")
    .replace(TAG, "")
    .replace(OPEN_TAG, "")
    .replace(CLICK, "")
    .replace(/@\{[^}]*\}/g, (shape) => shape.replace(SHAPE_PICTURE, 'label: ""'))
    .replace(ADDRESS, "(");
  return once === text ? text : safeDiagram(once);
}
