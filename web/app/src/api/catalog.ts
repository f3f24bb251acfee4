// What people say about a dataset: read, changed, brought back.
import { queryOptions } from "@tanstack/react-query";
import { at, request } from "./http";
import type { Catalog, ImportedCatalog, Meanings, Proposals } from "./model";

const keys = {
  catalog: (datasetId: string) => ["datasets", datasetId, "catalog"] as const,
  meanings: (datasetId: string) => ["datasets", datasetId, "meanings"] as const,
  proposals: (datasetId: string) => ["datasets", datasetId, "proposals"] as const,
};

export const catalogQuery = (datasetId: string) =>
  queryOptions({
    queryKey: keys.catalog(datasetId),
    queryFn: ({ signal }) => request<Catalog>(at("datasets", datasetId, "catalog"), { signal }),
    staleTime: 60_000,
  });

/** The whole description, as one file to be reviewed and imported elsewhere. */
export const catalogFileAddress = (datasetId: string) => at("datasets", datasetId, "catalog.yaml");

export const meaningsQuery = (datasetId: string) =>
  queryOptions({
    queryKey: keys.meanings(datasetId),
    queryFn: ({ signal }) => request<Meanings>(at("datasets", datasetId, "meanings"), { signal }),
    staleTime: 60_000,
  });

export const proposalsQuery = (datasetId: string) =>
  queryOptions({
    queryKey: keys.proposals(datasetId),
    queryFn: ({ signal }) => request<Proposals>(at("datasets", datasetId, "proposals"), { signal }),
    staleTime: 60_000,
  });

export interface CatalogChanges {
  /** The version that they were made from. */
  before: string;
  /** A JSON merge patch of what people said. */
  changes: Record<string, unknown>;
  note: string;
}

export const changeCatalog = (datasetId: string, body: CatalogChanges) =>
  request<Catalog>(at("datasets", datasetId, "catalog"), { method: "PATCH", body });

export const restoreCatalog = (datasetId: string, body: { before: string; version: string }) =>
  request<Catalog>(at("datasets", datasetId, "catalog", "restore"), { body });

/** What a file makes of the catalog; with `dry_run` nothing is written. */
export const importCatalog = (
  datasetId: string,
  content: string,
  query: { before: string; dry_run: boolean },
) =>
  request<ImportedCatalog>(at("datasets", datasetId, "catalog.yaml"), {
    method: "PUT",
    text: { type: "text/yaml", content },
    query,
  });
