// How many rows there are, in words.
import { count, number } from "~/format";

interface Rows {
  /** After filters. */
  shown: number;
  /** Here, before filters. */
  here: number;
  /** Of the whole result, which may still be on its way. */
  rowCount: number;
  truncated: boolean;
}

export function rowsInWords({ shown, here, rowCount, truncated }: Rows): string {
  if (shown < here) return `${number(shown)} of ${count(here, "row")}`;
  if (here < rowCount) return `the first ${number(here)} of ${count(rowCount, "row")}`;
  return truncated ? `Shown: the first ${count(here, "row")} of more` : count(here, "row");
}
