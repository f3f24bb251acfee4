// From what a person edits to the changes that are sent. A field that says what the data show is not said at all.
import { isFields, type JoinSemantics, type MetricSemantics, type Semantics } from "~/api/model";

type Fields = Readonly<Record<string, unknown>>;

/** By the name of a field; synonyms as they are typed, separated by commas, and questions, each on a line. An empty
 * text is an empty field. */
export type Edits = Readonly<Record<string, unknown>>;

export interface TableEdits {
  table: Edits;
  columns: Readonly<Record<string, Edits>>;
}

export const NO_EDITS: TableEdits = { table: {}, columns: {} };

export const isEdited = ({ table, columns }: TableEdits): boolean =>
  Object.keys(table).length > 0 || Object.values(columns).some((edits) => Object.keys(edits).length > 0);

/** Changes of a list, by the names of its members. What others add or remove meanwhile stays as they made it. */
export interface ListEdits<T> {
  added: Readonly<Record<string, T>>;
  removed: readonly string[];
}

export function listWith<T>(known: Readonly<Record<string, T>>, edits: ListEdits<T>): Record<string, T> {
  const left = Object.entries(known).filter(([name]) => !edits.removed.includes(name));
  return { ...Object.fromEntries(left), ...edits.added };
}

export const adding = <T>({ added, removed }: ListEdits<T>, name: string, one: T): ListEdits<T> => ({
  added: { ...added, [name]: one },
  removed,
});

export function removing<T>({ added, removed }: ListEdits<T>, name: string): ListEdits<T> {
  const { [name]: _, ...others } = added;
  return { added: others, removed: [...removed, name] };
}

/** `a, b ,,c` as three words. */
export const wordsIn = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

/** The changes for fields of the dataset itself. */
export function datasetChanges(stated: Semantics, found: Semantics, edits: Edits): Fields {
  return patchOf(cleared(stated), saidWith(cleared(stated), found as unknown as Fields, edits));
}

export function tableChanges(stated: Semantics, found: Semantics, name: string, edits: TableEdits): Fields {
  const before = cleared(stated);
  const tables = fieldsOf(before.tables);
  const own = keyIn(tables, name);
  const said = fieldsOf(tables[own]);
  const shown = fieldsOf(found.tables?.[name]);
  const made: Record<string, unknown> = { ...saidWith(said, shown, edits.table) };
  for (const [column, edited] of Object.entries(edits.columns)) {
    const columns = fieldsOf(made.columns);
    const key = keyIn(columns, column);
    const after = saidWith(fieldsOf(columns[key]), fieldsOf(fieldsOf(shown.columns)[column]), edited);
    made.columns = { ...columns, [key]: after };
  }
  return patchOf(before, { ...before, tables: { ...tables, [own]: made } });
}

export function joinsChanges(stated: Semantics, found: Semantics, joins: readonly JoinSemantics[]): Fields {
  const { joins: _, ...rest } = cleared(stated);
  const own = isSame(sorted(joins), sorted(found.joins ?? []));
  return patchOf(cleared(stated), own ? rest : { ...rest, joins });
}

export function metricsChanges(
  stated: Semantics,
  found: Semantics,
  metrics: Readonly<Record<string, MetricSemantics>>,
): Fields {
  const { metrics: _, ...rest } = cleared(stated);
  const own = isSame(inOrder(cleared(metrics)), inOrder(cleared(found.metrics ?? {})));
  return patchOf(cleared(stated), own ? rest : { ...rest, metrics: cleared(metrics) });
}

/** The JSON merge patch (RFC 7396) that makes the one of the other. Neither holds null. */
export function patchOf(before: Fields, after: Fields): Fields {
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(before)) if (!(name in after)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    if (isSame(old, value)) continue;
    patch[name] = isFields(value) && isFields(old) ? patchOf(old, value) : value;
  }
  return patch;
}

/** One for each line that is not empty. */
export const linesIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

function asSaid(name: string, edited: unknown): unknown {
  if (name === "synonyms") return wordsIn(String(edited));
  return name === "questions" ? linesIn(String(edited)) : edited;
}

function saidWith(said: Fields, found: Fields, edits: Edits): Fields {
  const made: Record<string, unknown> = { ...said };
  for (const [name, edited] of Object.entries(edits)) {
    const value = asSaid(name, edited);
    if (isSame(value, found[name] ?? "")) delete made[name];
    else made[name] = value;
  }
  return made;
}

/** Names are the same regardless of case; a document may spell them in its own way. */
const keyIn = (fields: Fields, name: string): string =>
  Object.keys(fields).find((key) => key.toLowerCase() === name.toLowerCase()) ?? name;

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** Without what is null, which says nothing. */
function cleared(value: unknown): Fields {
  const kept = Object.entries(fieldsOf(value)).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(kept.map(([name, each]) => [name, isFields(each) ? cleared(each) : each]));
}

const inOrder = (fields: Fields) => Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));

const sorted = (joins: readonly JoinSemantics[]) => joins.map(({ many, one }) => `${many} ${one}`).sort();

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
