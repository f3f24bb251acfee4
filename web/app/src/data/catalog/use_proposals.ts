// What the data suggest, without what this person does not want to see now.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { proposalsQuery } from "~/api/catalog";
import { isFields, type Proposals } from "~/api/model";

const KEY = "sandtable.catalog.dismissed";
const NONE: Proposals = { keys: [], joins: [], metrics: [], masks: [] };

/** The names by which proposals are dismissed. */
export const dismissal = {
  key: ({ table, columns }: Proposals["keys"][number]) => `key ${table} ${columns.join(",")}`,
  join: ({ many, one }: Proposals["joins"][number]) => `join ${many} ${one}`,
  metric: ({ name }: Proposals["metrics"][number]) => `metric ${name}`,
  mask: ({ table, column }: Proposals["masks"][number]) => `mask ${table}.${column}`,
};

export interface Proposed {
  proposals: Proposals;
  dismiss: (...names: string[]) => void;
}

/** Dismissals are of this browser alone. */
export function useProposals(datasetId: string): Proposed {
  const found = useQuery(proposalsQuery(datasetId)).data ?? NONE;
  const [dismissed, setDismissed] = useState(() => kept()[datasetId] ?? []);
  const isWanted = (name: string) => !dismissed.includes(name);
  return {
    proposals: {
      keys: found.keys.filter((one) => isWanted(dismissal.key(one))),
      joins: found.joins.filter((one) => isWanted(dismissal.join(one))),
      metrics: found.metrics.filter((one) => isWanted(dismissal.metric(one))),
      masks: found.masks.filter((one) => isWanted(dismissal.mask(one))),
    },
    dismiss: (...names) => {
      const next = [...dismissed, ...names];
      setDismissed(next);
      keep({ ...kept(), [datasetId]: next });
    },
  };
}

function kept(): Record<string, string[]> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (!isFields(value)) return {};
    return Object.fromEntries(
      Object.entries(value).map(([id, names]) => [id, Array.isArray(names) ? names.map(String) : []]),
    );
  } catch {
    // Storage may be forbidden, or hold something else.
    return {};
  }
}

function keep(dismissed: Record<string, string[]>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(dismissed));
  } catch {
    // Storage may be forbidden: it then holds until the page is left.
  }
}
