// Which runs are listed. The choice is in the address: it survives a reload and can be linked.
import type { RunStatus } from "~/api/model";
import type { RunFilters } from "~/api/rest";

export const STATES: readonly RunStatus[] = [
  "pending",
  "running",
  "succeeded",
  "failed",
  "rejected",
  "cancelled",
];

export interface Chosen {
  status: RunStatus | "";
  dataset: string;
  text: string;
  /** With the runs that read a table's first rows for the page of its dataset. */
  samples: boolean;
}

export const NOTHING_CHOSEN: Chosen = { status: "", dataset: "", text: "", samples: false };

export function chosenIn(parameters: URLSearchParams): Chosen {
  const status = parameters.get("status");
  return {
    status: STATES.find((one) => one === status) ?? "",
    dataset: parameters.get("dataset") ?? "",
    text: parameters.get("q") ?? "",
    samples: parameters.get("samples") === "1",
  };
}

/** What else is in the address, such as the open details, stays. */
export function withChosen(parameters: URLSearchParams, chosen: Chosen): URLSearchParams {
  const { status, dataset, text, samples } = chosen;
  const after = new URLSearchParams(parameters);
  const said = { status, dataset, q: text.trim(), samples: samples ? "1" : "" };
  for (const [name, value] of Object.entries(said)) {
    if (value) after.set(name, value);
    else after.delete(name);
  }
  return after;
}

/** The server takes at most 500 characters of text. */
export function asFilters({ status, dataset, text }: Omit<Chosen, "samples">, limit: number): RunFilters {
  return {
    status: status || undefined,
    dataset_id: dataset || undefined,
    text: text.trim().slice(0, 500) || undefined,
    limit,
  };
}

export const isFiltered = ({ status, dataset, text }: Chosen): boolean => Boolean(status || dataset || text);
