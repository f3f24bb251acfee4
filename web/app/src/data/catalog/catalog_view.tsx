// What is said about a dataset, to be read and corrected: one part at a time.
import { useQuery } from "@tanstack/react-query";
import { catalogQuery, meaningsQuery } from "~/api/catalog";
import type { Catalog, Dataset } from "~/api/model";
import { CodeWords, ErrorNote, SkeletonLines } from "~/ui";
import { DatasetPart } from "./dataset_part";
import { FilePart } from "./file_part";
import { History } from "./history";
import { JoinsPart } from "./joins_part";
import { MetricsPart } from "./metrics_part";
import { TablePart } from "./table_part";
import { useProposals } from "./use_proposals";

export function CatalogView({ dataset }: { dataset: Dataset }) {
  const catalog = useQuery(catalogQuery(dataset.id));
  if (catalog.isPending) return <SkeletonLines lines={6} label="Loading the catalog" />;
  if (catalog.error && !catalog.data)
    return <ErrorNote error={catalog.error} onRetry={() => catalog.refetch()} />;
  if (!catalog.data.editable)
    return (
      <p className="max-w-prose">
        These files were given to this server alone, so nothing said about them would last. Add them on the
        page Data to describe them.
      </p>
    );
  return <Parts dataset={dataset} catalog={catalog.data} />;
}

function Parts({ dataset, catalog }: { dataset: Dataset; catalog: Catalog }) {
  const meanings = useQuery(meaningsQuery(dataset.id));
  const proposed = useProposals(dataset.id);
  return (
    <div className="space-y-8">
      <p className="max-w-prose text-ink-2">
        What is said here is used for every question about these data. Each save makes a new version of the
        catalog; earlier answers keep theirs and can still be verified.
      </p>
      {catalog.misfits.length > 0 && <Misfits misfits={catalog.misfits} />}
      <DatasetPart datasetId={dataset.id} catalog={catalog} />
      <div className="space-y-3">
        <h2 className="font-medium">Tables and columns</h2>
        {dataset.tables.map((table) => (
          <TablePart
            key={table.name}
            datasetId={dataset.id}
            catalog={catalog}
            table={table}
            meanings={meanings.data?.tables.find((one) => one.table === table.name)?.columns ?? []}
            proposed={proposed}
            opened={dataset.tables.length === 1}
          />
        ))}
      </div>
      {dataset.tables.length > 1 && <JoinsPart dataset={dataset} catalog={catalog} proposed={proposed} />}
      <MetricsPart dataset={dataset} catalog={catalog} proposed={proposed} />
      <FilePart datasetId={dataset.id} catalog={catalog} />
      <History datasetId={dataset.id} catalog={catalog} />
    </div>
  );
}

function Misfits({ misfits }: { misfits: readonly string[] }) {
  return (
    <div className="space-y-1 rounded-md border border-warning/40 bg-warning-soft p-3">
      <p>Some of what was said does not fit these data any more, and is not used:</p>
      <ul className="list-disc pl-5 text-small">
        {misfits.map((misfit) => (
          <li key={misfit}>
            <CodeWords text={misfit} />
          </li>
        ))}
      </ul>
    </div>
  );
}
