// What may be written at a place in a plan: fields and choices from its JSON Schema, names from the dataset.
import type { Segment } from "./json_places";

export interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  type?: string;
  description?: string;
}

/** The dataset's names, those of columns also with their table in front. */
export interface Names {
  tables: readonly { name: string; columns: readonly { name: string; type: string }[] }[];
  metrics: readonly { name: string; description: string }[];
}

export interface Word {
  text: string;
  detail: string;
}

const TABLES: ReadonlySet<string> = new Set(["table"]);
const METRICS: ReadonlySet<string> = new Set(["metric"]);
const OUTPUTS: ReadonlySet<string> = new Set(
  "expr change running_total share_of_total rank zscore order_by".split(" "),
);
const COLUMNS: ReadonlySet<string> = new Set("column other_column group_by along within by".split(" "));

/** Names of the fields of the object at a path. */
export function fieldsAt(schema: JsonSchema, path: readonly Segment[]): Word[] {
  const found = new Map<string, string>();
  for (const one of at(schema, path)) {
    for (const [name, field] of Object.entries(one.properties ?? {})) {
      if (!found.has(name)) found.set(name, field.description ?? "");
    }
  }
  return [...found].map(([text, detail]) => ({ text, detail }));
}

/** Texts that make sense as the value at a path. `table`: the one the plan is about. */
export function valuesAt(schema: JsonSchema, path: readonly Segment[], names: Names, table: string): Word[] {
  const choices = at(schema, path).flatMap((one) => [...(one.enum ?? []), one.const]);
  const words = choices.filter((choice) => typeof choice === "string").map((text) => ({ text, detail: "" }));
  const field = path.findLast((segment) => typeof segment === "string") ?? "";
  return unique([...words, ...namesFor(String(field), names, table)]);
}

function namesFor(field: string, names: Names, table: string): Word[] {
  if (TABLES.has(field)) return names.tables.map((one) => ({ text: one.name, detail: "table" }));
  const metrics = names.metrics.map((one) => ({ text: one.name, detail: "metric" }));
  if (METRICS.has(field)) return metrics;
  if (OUTPUTS.has(field)) return [...metrics, ...columnsOf(names, table)];
  return COLUMNS.has(field) ? columnsOf(names, table) : [];
}

/** The table's own columns by their names, those of others with the table in front. */
function columnsOf(names: Names, table: string): Word[] {
  const own = names.tables.filter((one) => one.name === table);
  const others = names.tables.filter((one) => one.name !== table);
  return [
    ...own.flatMap((one) => one.columns.map(({ name, type }) => ({ text: name, detail: type }))),
    ...others.flatMap((one) =>
      one.columns.map(({ name, type }) => ({ text: `${one.name}.${name}`, detail: type })),
    ),
  ];
}

function at(root: JsonSchema, path: readonly Segment[]): JsonSchema[] {
  let here = alternatives(root, root);
  for (const segment of path) {
    here = here.flatMap((one) => {
      const next = typeof segment === "number" ? one.items : one.properties?.[segment];
      return next ? alternatives(next, root) : [];
    });
  }
  return here;
}

function alternatives(schema: JsonSchema, root: JsonSchema, seen: readonly string[] = []): JsonSchema[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    const meant = root.$defs?.[name];
    return meant && !seen.includes(name) ? alternatives(meant, root, [...seen, name]) : [];
  }
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return choices.length ? choices.flatMap((one) => alternatives(one, root, seen)) : [schema];
}

function unique(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.text, word])).values()];
}
