// Completion in a plan: field names and values that make sense where the cursor is.
import type {
  Completion,
  CompletionContext,
  CompletionResult,
  CompletionSource,
} from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { propertyName, type Segment, type SyntaxNode, values } from "./json_places";
import { fieldsAt, type JsonSchema, type Names, valuesAt, type Word } from "./plan_words";

const WORD = /^[\w.]*$/;

export function planCompletion(schema: JsonSchema, names: Names): CompletionSource {
  return (context) => {
    const node = syntaxTree(context.state).resolveInner(context.pos, -1);
    const text = context.state.doc.toString();
    if (node.name === "PropertyName" && node.parent?.parent) {
      return inQuotes(node, fieldOptions(fieldsAt(schema, pathOf(node.parent.parent, text)), node, text));
    }
    if (node.name === "String") {
      const words = valuesAt(schema, pathOf(node, text), names, tableOf(text));
      return inQuotes(
        node,
        words.map((word) => option(word, "enum")),
      );
    }
    return context.explicit ? atNothing(context, node, fieldsAt(schema, pathOf(node, text))) : null;
  };
}

/** Asked for where no quote is yet. */
function atNothing(context: CompletionContext, node: SyntaxNode, fields: Word[]): CompletionResult | null {
  if (node.name !== "Object" && node.name !== "{" && node.name !== ",") return null;
  const options = fields.map((field) => ({ ...option(field, "property"), apply: `"${field.text}": ` }));
  return options.length ? { from: context.pos, options } : null;
}

function inQuotes(node: SyntaxNode, options: Completion[]): CompletionResult | null {
  return options.length ? { from: node.from + 1, options, validFor: WORD } : null;
}

function fieldOptions(fields: readonly Word[], node: SyntaxNode, text: string): Completion[] {
  const colon = /^\s*:/.test(text.slice(node.to));
  return fields.map((field) => ({
    ...option(field, "property"),
    apply: (view, _, from) => {
      const insert = colon ? field.text : `${field.text}": `;
      // What was typed of the name, and its closing quote when the colon comes with it.
      const end = syntaxTree(view.state).resolveInner(from, 1).to;
      const to = colon ? end - 1 : end;
      view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length } });
    },
  }));
}

function option(word: Word, type: string): Completion {
  return word.detail.length <= 24
    ? { label: word.text, type, detail: word.detail }
    : { label: word.text, type, info: word.detail };
}

function pathOf(node: SyntaxNode, text: string): Segment[] {
  const path: Segment[] = [];
  for (let here: SyntaxNode | null = node; here?.parent; here = here.parent) {
    const at: SyntaxNode = here.parent;
    if (at.name === "Property") path.unshift(propertyName(at, text) ?? "");
    if (at.name === "Array") path.unshift(placeIn(at, here));
  }
  return path;
}

function placeIn(array: SyntaxNode, child: SyntaxNode): number {
  return Math.max(
    0,
    values(array).findIndex((one) => one.from === child.from),
  );
}

const tableOf = (text: string) => /"table"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? "";
