import type { Column } from "~/api/model";
import type { ShownColumn } from "./cell";

/** A column of the catalog, to show its values by. */
export function catalogColumn({ name, type, unit, sql_type }: Column): ShownColumn {
  return { name, kind: type, unit, type: sql_type };
}
