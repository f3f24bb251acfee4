import { useQuery } from "@tanstack/react-query";
import { Copy, Database as DatabaseIcon, PinOff, RefreshCw } from "lucide-react";
import { copyTables, databasesQuery } from "~/api/databases";
import type { Database } from "~/api/model";
import { follow } from "~/imports/transfers";
import { Button, ErrorNote } from "~/ui";
import { useMakeLive } from "./ask_live";
import { Disconnect } from "./disconnect";
import { OtherTables } from "./other_tables";

/** Which database holds the rows, what that means for answers, and how to pin them. */
export function LiveIn({ datasetId }: { datasetId: string }) {
  const known = useQuery(databasesQuery());
  const database = known.data?.databases.find((one) => one.dataset_id === datasetId);
  return (
    <section aria-label="Where its rows are" className="space-y-2 rounded-md border bg-panel p-3">
      <p className="flex items-start gap-2">
        <DatabaseIcon aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
        <span className="wrap-anywhere min-w-0">
          {database ? `The rows stay in ${database.place}.` : "The rows stay in a database."} Each question is
          a query there.
        </span>
      </p>
      <p className="flex items-start gap-2 text-ink-2">
        <PinOff aria-hidden className="mt-0.5 size-4 shrink-0 text-warning" />
        <span className="min-w-0">
          Not pinned: an answer is signed with the rows that came back, and the rows can change. A copy pins
          them.
        </span>
      </p>
      {database && <Actions database={database} />}
    </section>
  );
}

function Actions({ database }: { database: Database }) {
  const live = useMakeLive(database.name);
  const copy = () => follow(`${database.name}: its tables`, () => copyTables(database.name));
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <Button onClick={copy}>
          <Copy aria-hidden />
          Copy the tables
        </Button>
        <Button disabled={live.isPending} onClick={() => live.mutate([])}>
          <RefreshCw aria-hidden />
          Read the columns again
        </Button>
        <OtherTables database={database} label="Choose other tables" />
        <Disconnect database={database} />
      </div>
      {live.data && (
        <p role="status" className="text-ink-2">
          {live.data.outcome === "unchanged" ? "The columns are the same." : "The columns were read again."}
        </p>
      )}
      {live.error && <ErrorNote error={live.error} />}
    </>
  );
}
