import { lazy, Suspense, useState } from "react";
import type { Dataset } from "~/api/model";
import { Boundary } from "~/shell";
import { Button, Empty, Skeleton } from "~/ui";
import { erDiagram } from "./er_diagram";

const Diagram = lazy(() => import("~/artifact/diagram"));

export function Relationships({ dataset }: { dataset: Dataset }) {
  const [allColumns, setAllColumns] = useState(false);
  const { relationships, tables } = dataset;
  if (relationships.length === 0) {
    return (
      <Empty title={tables.length === 1 ? "There is one table only" : "No relationships are declared"}>
        {tables.length === 1
          ? "Nothing has to be joined to answer a question."
          : "Tables are asked about one at a time."}
      </Empty>
    );
  }
  return (
    <div className="space-y-4">
      <div className="flex items-center justify-between gap-4">
        <p className="text-ink-2">A question may use columns of related tables together.</p>
        <Button size="small" aria-pressed={allColumns} onClick={() => setAllColumns(!allColumns)}>
          {allColumns ? "Keys only" : "All columns"}
        </Button>
      </div>
      <Boundary resetKey={String(allColumns)}>
        <Suspense fallback={<Skeleton className="h-64" />}>
          <Diagram
            text={erDiagram(tables, relationships, { allColumns })}
            label={`Relationships of ${dataset.title || dataset.id}; they are listed below`}
          />
        </Suspense>
      </Boundary>
      <ul aria-label="Relationships" className="divide-y rounded-md border">
        {relationships.map((one) => (
          <li
            key={`${one.many_table}.${one.many_column}-${one.one_table}`}
            className="flex flex-wrap items-baseline gap-x-2 px-3 py-2"
          >
            <Name table={one.many_table} column={one.many_column} />
            <span className="text-ink-2">refers to</span>
            <Name table={one.one_table} column={one.one_column} />
            <span className="text-ink-3 text-small">
              many rows of {one.many_table} to one of {one.one_table}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const Name = ({ table, column }: { table: string; column: string }) => (
  <span className="font-mono text-[13px]">
    {table}.{column}
  </span>
);
