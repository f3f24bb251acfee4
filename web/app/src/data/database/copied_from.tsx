import { useQuery } from "@tanstack/react-query";
import { Database as DatabaseIcon, RefreshCw } from "lucide-react";
import { copyTables, databasesQuery } from "~/api/databases";
import { ago } from "~/format";
import { follow } from "~/imports/transfers";
import { Button } from "~/ui";
import { Disconnect } from "./disconnect";
import { OtherTables } from "./other_tables";

/** Where a copied dataset is from, and how it is copied again. */
export function CopiedFrom({ datasetId }: { datasetId: string }) {
  const known = useQuery(databasesQuery());
  const database = known.data?.databases.find((one) => one.dataset_id === datasetId);
  if (known.isPending) return null;
  if (!database) return <p className="text-ink-2">Copied from a database.</p>;
  const copied = database.copied_at ? ago(database.copied_at) : null;
  const refresh = () => follow(`${database.name}: the same tables again`, () => copyTables(database.name));
  return (
    <section aria-label="Where it is copied from" className="space-y-2 rounded-md border bg-panel p-3">
      <p className="flex items-start gap-2">
        <DatabaseIcon aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
        <span className="wrap-anywhere min-w-0">
          Copied from {database.place}
          {copied && (
            <>
              , <time title={copied.raw}>{copied.text}</time>
            </>
          )}
        </span>
      </p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={refresh}>
          <RefreshCw aria-hidden />
          Refresh
        </Button>
        <OtherTables database={database} label="Choose other tables" />
        <Disconnect database={database} />
      </div>
    </section>
  );
}
