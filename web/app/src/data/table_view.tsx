import type { UseQueryResult } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Column, Dataset, DatasetSchema, Profile, Table } from "~/api/model";
import { count } from "~/format";
import { classes } from "~/ui";
import { ColumnItem } from "./column_item";
import { SampleRows } from "./sample_rows";

interface TableViewProps {
  dataset: Dataset;
  table: Table;
  /** Those that a search left. */
  columns: readonly Column[];
  profile: UseQueryResult<Profile>;
  schema: UseQueryResult<DatasetSchema>;
  opened: boolean;
}

export function TableView({ dataset, table, columns, profile, schema, opened }: TableViewProps) {
  const [open, setOpen] = useState(opened);
  const known = profile.data?.tables.find((one) => one.name === table.name);
  return (
    <section aria-label={table.name} className="rounded-md border">
      <h2>
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className={classes(
            "flex w-full items-baseline gap-2 rounded-md px-3 py-2.5 text-left transition-colors hover:bg-hover",
            open && "rounded-b-none border-b bg-panel",
          )}
        >
          <ChevronRight
            aria-hidden
            className={classes("size-4 shrink-0 self-center transition-transform", open && "rotate-90")}
          />
          <span className="font-medium font-mono text-[13px]">{table.name}</span>
          <span className="hidden min-w-0 flex-1 truncate text-ink-2 sm:block">{table.description}</span>
          <span className="ml-auto shrink-0 text-ink-3 text-small">
            {typeof table.rows === "number" && `${count(table.rows, "row")} · `}
            {count(table.columns.length, "column")}
          </span>
        </button>
      </h2>
      {open && (
        <>
          {table.description && <p className="px-3 pt-3 text-ink-2 sm:hidden">{table.description}</p>}
          <ul className="divide-y">
            {columns.map((column) => (
              <ColumnItem
                key={column.name}
                dataset={dataset}
                table={table}
                column={column}
                profile={known?.columns.find((one) => one.name === column.name)}
                rows={known?.rows ?? 0}
                waiting={profile.isPending}
              />
            ))}
          </ul>
          {columns.length < table.columns.length && (
            <p className="border-t px-3 py-2 text-ink-3 text-small">
              {count(table.columns.length - columns.length, "further column")} not found by the search
            </p>
          )}
          {columns.length === table.columns.length && (
            <SampleRows dataset={dataset} table={table} schema={schema} />
          )}
        </>
      )}
    </section>
  );
}
