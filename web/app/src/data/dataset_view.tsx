// One dataset: what it is, what to ask of it, its tables, how they hang together, its metrics.
import { useQuery } from "@tanstack/react-query";
import { Database } from "lucide-react";
import { Link, useSearchParams } from "react-router";
import type { Dataset } from "~/api/model";
import { problemOf } from "~/api/problem";
import { datasetQuery, datasetsQuery, schemaQuery } from "~/api/queries";
import { count, time } from "~/format";
import { AddData } from "~/imports/add_data";
import { SharedMark } from "~/sharing/shared_mark";
import { useWhose } from "~/sharing/use_sharing";
import { Crumbs, Page, places } from "~/shell";
import { Empty, ErrorNote, SkeletonLines, Tabs } from "~/ui";
import { CatalogView } from "./catalog/catalog_view";
import { CopiedFrom } from "./database/copied_from";
import { LiveIn } from "./database/live_in";
import { Metrics } from "./metrics";
import { Prompts } from "./prompts";
import { ReadingView } from "./reading";
import { Relationships } from "./relationships";
import { RemoveDataset } from "./remove_dataset";
import { ShareDataset } from "./share_dataset";
import { TableList } from "./table_list";
import { Version } from "./version";
import { VersionCover } from "./version_cover";

const VIEWS = ["tables", "relationships", "metrics", "reading", "catalog", "version"] as const;

export function DatasetView({ datasetId }: { datasetId: string }) {
  const dataset = useQuery(datasetQuery(datasetId));
  const title = dataset.data?.title || datasetId;
  return (
    <Page title={title} bar={<Crumbs to={places.data} parent="Data" title={title} />}>
      <div className="mx-auto max-w-5xl space-y-6 p-4 md:p-6">
        {dataset.isPending && <SkeletonLines lines={6} label="Loading the dataset" />}
        {dataset.error && !dataset.data && (
          <Missing datasetId={datasetId} error={dataset.error} onRetry={() => dataset.refetch()} />
        )}
        {dataset.data && <Whole dataset={dataset.data} />}
      </div>
    </Page>
  );
}

function Missing({ datasetId, error, onRetry }: { datasetId: string; error: unknown; onRetry: () => void }) {
  const problem = problemOf(error);
  if (problem.status !== 404) return <ErrorNote error={error} onRetry={onRetry} />;
  return (
    <Empty title={`There is no dataset called ${datasetId}`} icon={<Database aria-hidden />}>
      <p>{problem.suggestion}</p>
      <Link to={places.data} className="text-accent underline">
        See all datasets
      </Link>
    </Empty>
  );
}

function Whole({ dataset }: { dataset: Dataset }) {
  const [parameters, setParameters] = useSearchParams();
  const schema = useQuery(schemaQuery(dataset.id));
  const listed = useQuery(datasetsQuery()).data?.find((one) => one.id === dataset.id);
  const own = listed?.own ?? false;
  const { people, mine, sharedBy } = useWhose()(listed?.owner);
  const title = dataset.title || dataset.id;
  const view = VIEWS.find((one) => one === parameters.get("view")) ?? "tables";
  const choose = (next: string) =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        if (next === "tables") after.delete("view");
        else after.set("view", next);
        return after;
      },
      { replace: true },
    );
  return (
    <>
      <Header dataset={dataset} />
      {listed?.copied && <CopiedFrom datasetId={dataset.id} />}
      {listed?.live && <LiveIn datasetId={dataset.id} />}
      {own && (
        <div className="flex flex-wrap items-start gap-2">
          {!listed?.copied && !listed?.live && <AddData datasetId={dataset.id} />}
          {people && mine && <ShareDataset datasetId={dataset.id} title={title} />}
          {mine && <RemoveDataset datasetId={dataset.id} title={title} />}
          {sharedBy && <SharedMark by={sharedBy} className="self-center" />}
        </div>
      )}
      {dataset.prompts.length > 0 && <Prompts datasetId={dataset.id} prompts={dataset.prompts} />}
      <Tabs
        label="About this dataset"
        value={view}
        onChange={choose}
        className="-mx-3"
        contentClassName="px-3 pt-4"
        tabs={[
          {
            id: "tables",
            title: "Tables",
            content: <TableList dataset={dataset} schema={schema} />,
          },
          { id: "relationships", title: "Relationships", content: <Relationships dataset={dataset} /> },
          { id: "metrics", title: "Metrics", content: <Metrics metrics={dataset.metrics} /> },
          ...(own && !listed?.live
            ? [{ id: "reading", title: "Reading", content: <ReadingView dataset={dataset} /> }]
            : []),
          { id: "catalog", title: "Catalog", content: <CatalogView dataset={dataset} /> },
          {
            id: "version",
            title: "Version",
            content: <VersionCover dataset={dataset} live={listed?.live ?? false} />,
          },
        ]}
      />
    </>
  );
}

function Header({ dataset }: { dataset: Dataset }) {
  const rows = dataset.tables.reduce((sum, table) => sum + (table.rows ?? 0), 0);
  const known = dataset.tables.every((table) => table.rows !== null);
  return (
    <header>
      {dataset.description && <p className="max-w-prose">{dataset.description}</p>}
      <p className="mt-2 flex flex-wrap items-center gap-x-3 text-ink-3 text-small">
        <span>{count(dataset.tables.length, "table")}</span>
        {known && <span>{count(rows, "row")}</span>}
        {dataset.as_of && <span title={dataset.as_of}>as of {time(dataset.as_of).text}</span>}
        <Version version={dataset.version} />
      </p>
    </header>
  );
}
