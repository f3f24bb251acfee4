// Saving one part of the catalog: its edits, and what is said when they are refused.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { catalogQuery, changeCatalog, restoreCatalog } from "~/api/catalog";
import type { Catalog } from "~/api/model";
import { keys } from "~/api/queries";

const kept = new Map<string, unknown>();

/** Edits that are not saved stay while other tabs and pages are looked at. */
export function useEdits<T>(key: string, none: T): [T, (edits: T) => void] {
  const [edits, setEdits] = useState<T>(() => (kept.has(key) ? (kept.get(key) as T) : none));
  const keep = (next: T) => {
    if (next === none) kept.delete(key);
    else kept.set(key, next);
    setEdits(next);
  };
  return [edits, keep];
}

export interface Saving {
  save: (changes: Readonly<Record<string, unknown>>, note: string) => void;
  /** Takes what others saved meanwhile; the edits stay. */
  reload: () => void;
  error: unknown;
  isPending: boolean;
}

export function useSaving(datasetId: string, catalog: Catalog, onSaved: () => void): Saving {
  const client = useQueryClient();
  const changed = useChanged(datasetId);
  const change = useMutation({
    mutationFn: ({ changes, note }: { changes: Record<string, unknown>; note: string }) =>
      changeCatalog(datasetId, { before: catalog.catalog_version, changes, note }),
    onSuccess: (next) => {
      onSaved();
      return changed(next);
    },
  });
  return {
    save: (changes, note) => change.mutate({ changes, note }),
    reload: () => {
      change.reset();
      void client.invalidateQueries({ queryKey: catalogQuery(datasetId).queryKey });
    },
    error: change.error,
    isPending: change.isPending,
  };
}

export function useRestoring(datasetId: string, catalog: Catalog) {
  const changed = useChanged(datasetId);
  return useMutation({
    mutationFn: (version: string) => restoreCatalog(datasetId, { before: catalog.catalog_version, version }),
    onSuccess: changed,
  });
}

/** After a change that did not answer with the catalog. */
export function useReloading(datasetId: string): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    void client.invalidateQueries({ queryKey: keys.datasets, exact: true });
    await client.invalidateQueries({ queryKey: keys.dataset(datasetId) });
  };
}

/** What is known of the dataset is asked for again: its description is part of most of it. */
function useChanged(datasetId: string): (next: Catalog) => Promise<void> {
  const client = useQueryClient();
  const reload = useReloading(datasetId);
  return (next) => {
    client.setQueryData(catalogQuery(datasetId).queryKey, next);
    return reload();
  };
}
