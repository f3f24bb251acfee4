// Connected databases: what they have, and copying tables of them. A password is sent once and never kept here.
import { queryOptions } from "@tanstack/react-query";
import { at, request } from "./http";
import type { DatabaseLook, Databases, Import, LiveDataset } from "./model";

export const databaseKeys = {
  all: ["databases"] as const,
  one: (name: string) => ["databases", name] as const,
};

export interface NewDatabase {
  url: string;
  name: string;
  password?: string;
  schema?: string;
  allow_writer?: string;
}

export const connectDatabase = (body: NewDatabase) => request<DatabaseLook>("/database", { body });

export const copyTables = (name: string, tables: readonly string[] = []) =>
  request<Import>(at("database", name, "snapshot"), { body: { tables } });

/** The tables stay where they are; without any, those that the dataset has are looked at again. */
export const makeLive = (name: string, tables: readonly string[] = []) =>
  request<LiveDataset>(at("database", name, "live"), { body: { tables } });

export const disconnectDatabase = (name: string) => request<null>(at("database", name), { method: "DELETE" });

export const databasesQuery = () =>
  queryOptions({
    queryKey: databaseKeys.all,
    queryFn: ({ signal }) => request<Databases>("/database", { signal }),
    staleTime: 60_000,
  });

/** The database is asked each time. */
export const databaseQuery = (name: string) =>
  queryOptions({
    queryKey: databaseKeys.one(name),
    queryFn: ({ signal }) => request<DatabaseLook>(at("database", name), { signal }),
    gcTime: 0,
    retry: false,
  });
