// Finding tables and columns by words in their names, descriptions, types and units.
import type { Column, TableSchema } from "~/api/model";

export interface Found<T> {
  table: T;
  columns: readonly Column[];
}

type Searched = Pick<TableSchema, "name" | "description" | "columns">;

/** A table that is found itself keeps all its columns; else those that are found. Every word must occur. */
export function findIn<T extends Searched>(tables: readonly T[], text: string): Found<T>[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return tables.flatMap((table) => {
    if (has(`${table.name} ${table.description}`, words)) return [{ table, columns: table.columns }];
    const columns = table.columns.filter((column) =>
      has(
        `${table.name} ${column.name} ${column.description} ${column.type} ${column.sql_type} ${column.unit}`,
        words,
      ),
    );
    return columns.length > 0 ? [{ table, columns }] : [];
  });
}

function has(text: string, words: readonly string[]): boolean {
  const low = text.toLowerCase();
  return words.every((word) => low.includes(word));
}
