import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { databaseKeys, databasesQuery, disconnectDatabase } from "~/api/databases";
import type { Database } from "~/api/model";

/** The connected databases that the person may use. */
export function useDatabases(): readonly Database[] {
  return useQuery(databasesQuery()).data?.databases ?? [];
}

export function useDisconnect(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => disconnectDatabase(name),
    onSuccess: () => client.invalidateQueries({ queryKey: databaseKeys.all, exact: true }),
  });
}
