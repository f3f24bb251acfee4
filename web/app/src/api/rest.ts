// The REST interface, one function for each operation.
import { at, request } from "./http";
import type {
  ChartKind,
  ChartView,
  CheckBody,
  Dataset,
  DatasetSchema,
  DatasetSummary,
  Explanation,
  Keys,
  Me,
  Profile,
  Readiness,
  Report,
  RunBody,
  RunPage,
  RunStatus,
  RunView,
  VerdictView,
} from "./model";

type Signal = AbortSignal | undefined;

const heard = (signal: Signal) => (signal ? { signal } : {});

/** Who asks, and how that was proven. */
export const getMe = (signal?: AbortSignal) => request<Me>("/me", heard(signal));

export const signOut = () => request<null>("/logout", { method: "POST" });

export const listDatasets = (signal?: AbortSignal) => request<DatasetSummary[]>("/datasets", heard(signal));

export const getDataset = (datasetId: string, signal?: AbortSignal) =>
  request<Dataset>(at("datasets", datasetId), heard(signal));

export const getSchema = (datasetId: string, signal?: AbortSignal) =>
  request<DatasetSchema>(at("datasets", datasetId, "schema"), heard(signal));

export const getProfile = (datasetId: string, signal?: AbortSignal) =>
  request<Profile>(at("datasets", datasetId, "profile"), heard(signal));

export const getPlanSchema = (signal?: AbortSignal) =>
  request<Record<string, unknown>>("/plan/schema", heard(signal));

export interface RunFilters {
  status?: RunStatus | undefined;
  dataset_id?: string | undefined;
  user?: string | undefined;
  text?: string | undefined;
  limit?: number | undefined;
  /** `next` of the page before. */
  before?: string | undefined;
}

export const listRuns = (filters: RunFilters = {}, signal?: AbortSignal) =>
  request<RunPage>("/runs", { query: { ...filters }, ...heard(signal) });

/** `wait`: seconds to wait for the run's end before answering, at most 60. */
export const getRun = (runId: string, wait = 0, signal?: AbortSignal) =>
  request<RunView>(at("runs", runId), { query: { wait: wait || undefined }, ...heard(signal) });

/** Without a kind: the chart that the run was answered with. */
export const getChart = (runId: string, kind: ChartKind | null = null, signal?: AbortSignal) =>
  request<ChartView>(at("runs", runId, "chart"), { query: { kind: kind ?? undefined }, ...heard(signal) });

export const createRun = (body: NewRun, wait = 0, signal?: AbortSignal) =>
  request<RunView>("/runs", { body, query: { wait: wait || undefined }, ...heard(signal) });

export const cancelRun = (runId: string) => request<RunView>(at("runs", runId, "cancel"), { method: "POST" });

/** Why a run found nothing; it makes further runs, which count. */
export const explainRun = (runId: string) =>
  request<Explanation>(at("runs", runId, "explain"), { method: "POST" });

/** What the gate says about exactly one of `plan` and `sql`, without running it. */
export const check = (body: CheckBody, signal?: AbortSignal) =>
  request<VerdictView>("/check", { body, ...heard(signal) });

export const checkSql = (datasetId: string, sql: string, signal?: AbortSignal) =>
  check({ dataset_id: datasetId, sql }, signal);

export const checkPlan = (datasetId: string, plan: Record<string, unknown>, signal?: AbortSignal) =>
  check({ dataset_id: datasetId, plan }, signal);

/** A DSSE envelope. */
export type Capsule = Record<string, unknown>;

export const getCapsule = (runId: string, signal?: AbortSignal) =>
  request<Capsule>(at("runs", runId, "capsule"), heard(signal));

export const capsuleAddress = (runId: string) => at("runs", runId, "capsule");

export type ExportForm = "page" | "markdown" | "notebook" | "csv";

/** Answers as a file: of one run, or of a whole conversation. */
export const exportAddress = (of: "runs" | "threads", id: string, form: ExportForm) =>
  at(of, id, "export", form);

export const verifyRun = (runId: string) => request<Report>(at("runs", runId, "verify"), { method: "POST" });

export const verifyEnvelope = (envelope: unknown) => request<Report>("/verify", { body: envelope });

export const getKeys = (signal?: AbortSignal) => request<Keys>("/keys", heard(signal));

export const getReadiness = (signal?: AbortSignal) =>
  request<Readiness>("/readyz", { alsoFine: [503], ...heard(signal) });

/** What the server fills in may be left out. */
export type NewRun = Pick<RunBody, "dataset_id"> & Partial<RunBody>;
