// The names that a plan or a query over a dataset may use, for completion.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { datasetQuery, planSchemaQuery } from "~/api/queries";
import type { JsonSchema, Names } from "./editor";

export function useNames(datasetId: string): Names {
  const { data } = useQuery(datasetQuery(datasetId));
  return useMemo(
    () => ({
      tables: (data?.tables ?? []).map(({ name, columns }) => ({
        name,
        columns: columns.map((column) => ({ name: column.name, type: column.type })),
      })),
      metrics: (data?.metrics ?? []).map(({ name, description = "" }) => ({ name, description })),
    }),
    [data],
  );
}

const NOTHING: JsonSchema = {};

export function usePlanSchema(): JsonSchema {
  return (useQuery(planSchemaQuery()).data as JsonSchema | undefined) ?? NOTHING;
}
