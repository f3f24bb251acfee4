import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Column, ColumnProfile, Dataset, Table } from "~/api/model";
import { catalogColumn } from "~/format";
import { classes, Skeleton } from "~/ui";
import { ColumnFigures } from "./column_figures";
import { distributionOf } from "./distribution";
import { Sketch } from "./sketch";

interface ColumnItemProps {
  dataset: Dataset;
  table: Table;
  column: Column;
  profile: ColumnProfile | undefined;
  rows: number;
  waiting: boolean;
}

/** One column: its name and type, what it means, what it holds in a small picture; all figures when opened. */
export function ColumnItem({ dataset, table, column, profile, rows, waiting }: ColumnItemProps) {
  const [open, setOpen] = useState(false);
  const shown = catalogColumn(column);
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        disabled={!profile}
        onClick={() => setOpen(!open)}
        className="grid w-full grid-cols-[16px_1fr] gap-x-2 px-3 py-2 text-left transition-colors enabled:hover:bg-hover md:grid-cols-[16px_220px_1fr_160px] md:gap-x-3"
      >
        <ChevronRight
          aria-hidden
          className={classes(
            "mt-0.5 size-4 text-ink-3 transition-transform",
            open && "rotate-90",
            !profile && "invisible",
          )}
        />
        <span className="min-w-0">
          <span className="block break-words font-mono text-[13px]">{column.name}</span>
          <span className="block text-ink-3 text-small">
            <span title={column.sql_type}>{column.type}</span>
            {column.unit && ` · ${column.unit}`}
            {column.nullable && " · may be empty"}
          </span>
        </span>
        <span className="col-start-2 min-w-0 md:col-start-auto">
          <span className="block text-ink-2">{column.description}</span>
          <Roles dataset={dataset} table={table} column={column} />
        </span>
        <span className="col-start-2 mt-1 h-8 md:col-start-auto md:mt-0">
          {waiting && <Skeleton className="h-8" />}
          {profile && <Sketch distribution={distributionOf(shown, profile, rows)} />}
        </span>
      </button>
      {open && profile && <ColumnFigures column={shown} profile={profile} rows={rows} />}
    </li>
  );
}

/** What the column is for, beside holding values. */
function Roles({ dataset, table, column }: Pick<ColumnItemProps, "dataset" | "table" | "column">) {
  const roles: string[] = [];
  if (table.time_column === column.name) roles.push("time of the row");
  for (const one of dataset.relationships) {
    if (one.one_table === table.name && one.one_column === column.name)
      roles.push(`key, used by ${one.many_table}`);
    if (one.many_table === table.name && one.many_column === column.name)
      roles.push(`refers to ${one.one_table}.${one.one_column}`);
  }
  if (roles.length === 0) return null;
  return (
    <span className="mt-1 flex flex-wrap gap-1">
      {roles.map((role) => (
        <span key={role} className="rounded bg-accent-soft px-1.5 text-accent text-small">
          {role}
        </span>
      ))}
    </span>
  );
}
