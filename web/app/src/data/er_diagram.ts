// Tables and relationships in Mermaid's language. Names are data: what could mean something there is replaced.
import type { Column, Relationship, TableSchema } from "~/api/model";

type Drawn = Pick<TableSchema, "name" | "columns">;

export function erDiagram(
  tables: readonly Drawn[],
  relationships: readonly Relationship[],
  { allColumns = false } = {},
): string {
  const lines = ["erDiagram"];
  for (const table of tables) {
    lines.push(`  "${quoted(table.name)}" {`);
    for (const column of table.columns) {
      const mark = keyOf(table.name, column, relationships);
      if (allColumns || mark) lines.push(`    ${column.type} ${word(column.name)}${mark ? ` ${mark}` : ""}`);
    }
    lines.push("  }");
  }
  for (const one of relationships) {
    const label =
      one.many_column === one.one_column ? one.many_column : `${one.many_column} = ${one.one_column}`;
    lines.push(`  "${quoted(one.one_table)}" ||--o{ "${quoted(one.many_table)}" : "${quoted(label)}"`);
  }
  return lines.join("\n");
}

function keyOf(table: string, column: Column, relationships: readonly Relationship[]): "PK" | "FK" | null {
  const { name } = column;
  if (relationships.some((one) => one.one_table === table && one.one_column === name)) return "PK";
  if (relationships.some((one) => one.many_table === table && one.many_column === name)) return "FK";
  return null;
}

const quoted = (name: string) => name.replace(/["%\\\r\n\v\b]/g, "'").trim() || "_";

const word = (name: string) => {
  const plain = name.replace(/[^A-Za-z0-9_]/g, "_");
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
};
