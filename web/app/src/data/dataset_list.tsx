import { useQuery } from "@tanstack/react-query";
import { Database } from "lucide-react";
import { Link } from "react-router";
import type { DatasetSummary } from "~/api/model";
import { datasetsQuery } from "~/api/queries";
import { count, number, time } from "~/format";
import { AddData } from "~/imports/add_data";
import { SharedMark } from "~/sharing/shared_mark";
import { useWhose } from "~/sharing/use_sharing";
import { Page, places } from "~/shell";
import { Empty, ErrorNote, SkeletonLines } from "~/ui";
import { ConnectDatabase } from "./database/connect_database";
import { WaitingDatabases } from "./database/waiting_databases";
import { Version } from "./version";

export function DatasetList() {
  const datasets = useQuery(datasetsQuery());
  return (
    <Page title="Data">
      <div className="mx-auto max-w-4xl space-y-3 p-4 md:p-6">
        <AddData>
          <ConnectDatabase />
        </AddData>
        <p className="pb-2 text-ink-3 text-small">
          CSV, Excel, ODS, JSON, Parquet, also compressed. You can drop files on any page.
        </p>
        <WaitingDatabases />
        {datasets.isPending && <SkeletonLines lines={9} label="Loading datasets" />}
        {datasets.error && <ErrorNote error={datasets.error} onRetry={() => datasets.refetch()} />}
        {datasets.data?.length === 0 && (
          <Empty title="There is no data yet" icon={<Database aria-hidden />}>
            Drop a CSV, Excel, JSON or Parquet file on this page.
          </Empty>
        )}
        {datasets.data?.map((dataset) => (
          <DatasetCard key={dataset.id} dataset={dataset} />
        ))}
      </div>
    </Page>
  );
}

function DatasetCard({ dataset }: { dataset: DatasetSummary }) {
  const { sharedBy } = useWhose()(dataset.owner);
  const rows = dataset.tables.reduce((sum, table) => sum + (table.rows ?? 0), 0);
  return (
    <article className="rounded-md border p-4">
      <h2 className="font-medium text-title">
        <Link to={places.dataset(dataset.id)} className="hover:text-accent hover:underline">
          {dataset.title || dataset.id}
        </Link>
      </h2>
      {dataset.description && <p className="mt-1 max-w-prose text-ink-2">{dataset.description}</p>}
      <ul className="mt-3 flex flex-wrap gap-2">
        {dataset.tables.map((table) => (
          <li key={table.name} title={table.description}>
            <Link
              to={`${places.dataset(dataset.id)}?${new URLSearchParams({ table: table.name })}`}
              className="inline-flex gap-2 rounded border bg-panel px-2 py-0.5 transition-colors hover:bg-hover"
            >
              <span className="font-mono text-[13px]">{table.name}</span>
              {table.rows !== null && <span className="text-ink-3">{number(table.rows)}</span>}
            </Link>
          </li>
        ))}
      </ul>
      <p className="mt-3 flex flex-wrap items-center gap-x-3 text-ink-3 text-small">
        <span>{count(dataset.tables.length, "table")}</span>
        <span>{count(rows, "row")}</span>
        {dataset.as_of && <span title={dataset.as_of}>as of {time(dataset.as_of).text}</span>}
        <Version version={dataset.version} />
        {sharedBy && <SharedMark by={sharedBy} />}
      </p>
    </article>
  );
}
