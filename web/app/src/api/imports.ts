// Bringing one's own data: imports, their questions, and how a dataset's files are read.
import { queryOptions } from "@tanstack/react-query";
import { at, request } from "./http";
import type { Import, Reading } from "./model";

const POLL_MS = 300;
const POLL_SLOWLY_MS = 1500;
const SLOW_AFTER = 20;

export const importKeys = {
  one: (id: string) => ["imports", id] as const,
  reading: (datasetId: string) => ["datasets", datasetId, "reading"] as const,
};

export interface NewImport {
  uploads?: string[];
  text?: string;
  name?: string;
  url?: string;
  dataset_id?: string;
}

export const beginImport = (body: NewImport) => request<Import>("/imports", { body });

export const getImport = (id: string, signal?: AbortSignal) =>
  request<Import>(at("imports", id), signal ? { signal } : {});

export interface Answers {
  answers: Record<string, string>;
  repairs: string[];
}

export const answerImport = (id: string, body: Answers) =>
  request<Import>(at("imports", id, "answers"), { body });

export const forgetImport = (id: string) => request<null>(at("imports", id), { method: "DELETE" });

export const getReading = (datasetId: string, signal?: AbortSignal) =>
  request<Reading>(at("datasets", datasetId, "reading"), signal ? { signal } : {});

export const changeReading = (datasetId: string, body: Answers) =>
  request<Import>(at("datasets", datasetId, "reading"), { method: "PATCH", body });

export const removeDataset = (datasetId: string) =>
  request<null>(at("datasets", datasetId), { method: "DELETE" });

/** Asked for again while the files are being read. */
export const importQuery = (id: string) =>
  queryOptions({
    queryKey: importKeys.one(id),
    queryFn: ({ signal }) => getImport(id, signal),
    refetchInterval: (query) => {
      if (query.state.data?.state !== "reading") return false;
      return query.state.dataUpdateCount > SLOW_AFTER ? POLL_SLOWLY_MS : POLL_MS;
    },
  });

export const readingQuery = (datasetId: string) =>
  queryOptions({
    queryKey: importKeys.reading(datasetId),
    queryFn: ({ signal }) => getReading(datasetId, signal),
    staleTime: 60_000,
  });
