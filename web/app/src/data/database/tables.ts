// Which tables of a database are found and chosen.
import type { DatabaseTable } from "~/api/model";

/** Of one copy: what the server takes. */
export const MOST_CHOSEN = 100;
/** A database may have thousands. */
export const MOST_SHOWN = 200;

/** Every word must occur in the name. */
export function found(tables: readonly DatabaseTable[], text: string): DatabaseTable[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return tables.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
}

/** The choice with these names in it, or without them; in the order in which they were chosen. */
export function toggled(chosen: readonly string[], names: readonly string[], on: boolean): string[] {
  const others = chosen.filter((one) => !names.includes(one));
  return on ? [...new Set([...chosen, ...names])] : others;
}

/** Those that the database still has. */
export const still = (names: readonly string[], tables: readonly DatabaseTable[]): string[] =>
  names.filter((name) => tables.some((table) => table.name === name));

/** Those of an earlier choice come first. */
export const withFirst = (tables: readonly DatabaseTable[], first: readonly string[]): DatabaseTable[] => [
  ...tables.filter(({ name }) => first.includes(name)),
  ...tables.filter(({ name }) => !first.includes(name)),
];

const MOST_NAMED = 5;

/** The choice, which may be out of sight. */
export function inWords(chosen: readonly string[]): string {
  const more = chosen.length - MOST_NAMED;
  const named = chosen.slice(0, MOST_NAMED).join(", ");
  return more > 0 ? `${named} and ${more} more` : named;
}
