// Where the errors of a form are shown: at the field that caused them, else below the form.
import { problemOf, type WrongField, wrongFields } from "~/api/problem";

export interface Wrong {
  /** By the name of the field. */
  fields: Record<string, WrongField>;
  /** What no field of the form caused; null where there is nothing. */
  rest: unknown;
}

export function wrongIn(error: unknown, names: readonly string[]): Wrong {
  if (!error) return { fields: {}, rest: null };
  const found = wrongFields(problemOf(error));
  const fields = Object.fromEntries(Object.entries(found).filter(([name]) => names.includes(name)));
  return { fields, rest: Object.keys(fields).length > 0 ? null : error };
}
