// TanStack Query options: the one place that knows keys and how long an answer stays good.
import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { type ChartKind, hasEnded } from "./model";
import { Problem } from "./problem";
import * as rest from "./rest";

const FOR_EVER = Number.POSITIVE_INFINITY;
const WAIT_S = 20;
const LOOK_MS = 1500;
const MOST_LOOKS = 40;
/** A person who waits longer than this is shown the error instead. */
const LONGEST_PAUSE_S = 30;

export const keys = {
  datasets: ["datasets"] as const,
  dataset: (id: string) => ["datasets", id] as const,
  schema: (id: string) => ["datasets", id, "schema"] as const,
  profile: (id: string) => ["datasets", id, "profile"] as const,
  runs: ["runs"] as const,
  runList: (filters: rest.RunFilters) => ["runs", "list", filters] as const,
  run: (id: string) => ["runs", "one", id] as const,
  chart: (id: string, kind: ChartKind | null) => ["runs", "one", id, "chart", kind] as const,
  capsule: (id: string) => ["runs", "one", id, "capsule"] as const,
  threads: ["threads"] as const,
  thread: (id: string) => ["threads", "one", id] as const,
  planSchema: ["plan", "schema"] as const,
  keys: ["keys"] as const,
  me: ["me"] as const,
  readiness: ["readiness"] as const,
};

export const meQuery = () =>
  queryOptions({
    queryKey: keys.me,
    queryFn: ({ signal }) => rest.getMe(signal),
    staleTime: 60_000,
  });

export const datasetsQuery = () =>
  queryOptions({
    queryKey: keys.datasets,
    queryFn: ({ signal }) => rest.listDatasets(signal),
    staleTime: 60_000,
    // The first questions about new data are found in the background.
    refetchInterval: ({ state }) =>
      state.dataUpdateCount < MOST_LOOKS && state.data?.some((one) => one.own && one.prompts.length === 0)
        ? LOOK_MS
        : false,
  });

export const datasetQuery = (id: string) =>
  queryOptions({
    queryKey: keys.dataset(id),
    queryFn: ({ signal }) => rest.getDataset(id, signal),
    staleTime: 60_000,
  });

export const schemaQuery = (id: string) =>
  queryOptions({
    queryKey: keys.schema(id),
    queryFn: ({ signal }) => rest.getSchema(id, signal),
    staleTime: 60_000,
  });

export const profileQuery = (id: string) =>
  queryOptions({
    queryKey: keys.profile(id),
    queryFn: ({ signal }) => rest.getProfile(id, signal),
    staleTime: 60_000,
  });

/** Pages of runs, newest first. */
export const runsQuery = (filters: rest.RunFilters = {}) =>
  infiniteQueryOptions({
    queryKey: keys.runList(filters),
    queryFn: ({ pageParam, signal }) => rest.listRuns({ ...filters, before: pageParam ?? undefined }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    staleTime: 2_000,
  });

/** A run that has ended never changes; one that has not is waited for. */
export const runQuery = (id: string) =>
  queryOptions({
    queryKey: keys.run(id),
    queryFn: ({ signal, client, queryKey }) => {
      const known = client.getQueryData(queryKey) !== undefined;
      return rest.getRun(id, known ? WAIT_S : 0, signal);
    },
    staleTime: (query) => (query.state.data && hasEnded(query.state.data.status) ? FOR_EVER : 0),
    refetchInterval: (query) => (query.state.data && !hasEnded(query.state.data.status) ? 50 : false),
  });

/** The rows of a run that has ended never change. */
export const chartQuery = (id: string, kind: ChartKind | null = null) =>
  queryOptions({
    queryKey: keys.chart(id, kind),
    queryFn: ({ signal }) => rest.getChart(id, kind, signal),
    staleTime: FOR_EVER,
  });

export const capsuleQuery = (id: string) =>
  queryOptions({
    queryKey: keys.capsule(id),
    queryFn: ({ signal }) => rest.getCapsule(id, signal),
    staleTime: FOR_EVER,
  });

export const planSchemaQuery = () =>
  queryOptions({
    queryKey: keys.planSchema,
    queryFn: ({ signal }) => rest.getPlanSchema(signal),
    staleTime: FOR_EVER,
  });

export const keysQuery = () =>
  queryOptions({ queryKey: keys.keys, queryFn: ({ signal }) => rest.getKeys(signal), staleTime: FOR_EVER });

export const readinessQuery = () =>
  queryOptions({
    queryKey: keys.readiness,
    queryFn: ({ signal }) => rest.getReadiness(signal),
    staleTime: 10_000,
  });

/** Only what a second try may cure is tried again. */
export function mayHelp(failures: number, thrown: unknown): boolean {
  if (!(thrown instanceof Problem) || (thrown.retryAfterS ?? 0) > LONGEST_PAUSE_S) return false;
  const transient = thrown.code === "NETWORK" || thrown.status >= 502 || thrown.status === 429;
  return transient && failures < 2;
}

/** As the server says; else 1 s, then 2 s. */
export function pauseMs(failures: number, thrown: unknown): number {
  const said = thrown instanceof Problem ? thrown.retryAfterS : null;
  return 1000 * (said ?? 2 ** failures);
}

export function newQueryClient(): QueryClient {
  const queries = { retry: mayHelp, retryDelay: pauseMs, refetchOnWindowFocus: false };
  return new QueryClient({ defaultOptions: { queries } });
}
