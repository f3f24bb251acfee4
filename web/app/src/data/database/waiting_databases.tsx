import { Database as DatabaseIcon } from "lucide-react";
import { Disconnect } from "./disconnect";
import { OtherTables } from "./other_tables";
import { useDatabases } from "./use_databases";

/** Databases of which no table was copied yet. */
export function WaitingDatabases() {
  const waiting = useDatabases().filter((one) => one.dataset_id === null);
  return waiting.map((database) => (
    <article key={database.name} className="flex flex-wrap items-center gap-2 rounded-md border bg-panel p-3">
      <DatabaseIcon aria-hidden className="size-4 shrink-0 text-ink-3" />
      <h2 className="wrap-anywhere min-w-64 flex-1">{database.place} is connected; no table was chosen.</h2>
      <div className="flex flex-wrap gap-2">
        <OtherTables database={database} label="Choose tables" />
        <Disconnect database={database} />
      </div>
    </article>
  ));
}
