// A role that can do more than read, as the server says it in the details of its refusal.
import { problemOf } from "~/api/problem";

export interface Refused {
  role: string;
  reasons: readonly string[];
  /** Statements that make a role which can only read. */
  grants: readonly string[];
}

/** Null for any other error. */
export function refusedRole(error: unknown): Refused | null {
  const { role, reasons, grants } = problemOf(error).details;
  if (typeof role !== "string" || !areTexts(reasons) || reasons.length === 0) return null;
  return { role, reasons, grants: areTexts(grants) ? grants : [] };
}

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");
