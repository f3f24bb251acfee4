// From a problem's path in a plan, such as `select[0].column`, to the place in its text.
import { jsonLanguage } from "@codemirror/lang-json";
import type { syntaxTree } from "@codemirror/language";
import type { Range } from "../position";

export type Tree = ReturnType<typeof syntaxTree>;
export type SyntaxNode = Tree["topNode"];
export type Segment = string | number;

const VALUES: ReadonlySet<string> = new Set(["Object", "Array", "String", "Number", "True", "False", "Null"]);

export const parseJson = (text: string): Tree => jsonLanguage.parser.parse(text);

export function segmentsOf(path: string): Segment[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? "") : Number(index),
  );
}

/** The value at the path, or the nearest thing around it that is there. `name`: rather the field's name. */
export function placeOf(text: string, path: string, what: "value" | "name" = "value"): Range {
  let node = valueIn(parseJson(text).topNode);
  if (!node) return { from: 0, to: Math.min(1, text.length) };
  for (const segment of segmentsOf(path)) {
    const next = member(node, segment, text);
    if (!next) return anchor(node);
    node = next;
  }
  return what === "name" ? (nameOf(node) ?? anchor(node)) : anchor(node);
}

/** Where the text first stops being JSON. */
export function brokenPlace(text: string): Range | null {
  let found: Range | null = null;
  parseJson(text).iterate({
    enter: (node) => {
      if (found) return false;
      if (node.type.isError) found = widened(node.from, node.to, text);
      return undefined;
    },
  });
  return found;
}

export function values(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (VALUES.has(child.name)) found.push(child);
  }
  return found;
}

function valueIn(node: SyntaxNode): SyntaxNode | null {
  return values(node)[0] ?? null;
}

function member(node: SyntaxNode, segment: Segment, text: string): SyntaxNode | null {
  if (typeof segment === "number") return node.name === "Array" ? (values(node)[segment] ?? null) : null;
  if (node.name !== "Object") return null;
  const property = node.getChildren("Property").findLast((one) => propertyName(one, text) === segment);
  return property ? valueIn(property) : null;
}

export function propertyName(property: SyntaxNode, text: string): string | null {
  const name = property.getChild("PropertyName");
  return name ? text.slice(name.from + 1, Math.max(name.from + 1, name.to - 1)) : null;
}

/** A long object is not underlined as a whole: its name, or its bracket, stands for it. */
function anchor(node: SyntaxNode): Range {
  if (node.name !== "Object" && node.name !== "Array") return { from: node.from, to: node.to };
  return nameOf(node) ?? { from: node.from, to: node.from + 1 };
}

function nameOf(node: SyntaxNode): Range | null {
  const name = node.parent?.name === "Property" ? node.parent.getChild("PropertyName") : null;
  return name ? { from: name.from, to: name.to } : null;
}

/** Nothing to underline: the last sign before it is. */
function widened(from: number, to: number, text: string): Range {
  if (to > from) return { from, to };
  const before = text.slice(0, from).trimEnd().length;
  return before > 0 ? { from: before - 1, to: before } : { from: 0, to: Math.min(1, text.length) };
}
