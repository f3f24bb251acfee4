// Which dataset a new question is about: as the address says, else as it was chosen last, else the first.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { useSearchParams } from "react-router";
import type { DatasetSummary } from "~/api/model";
import { datasetsQuery } from "~/api/queries";

const KEY = "sandtable.dataset";

export function choose(
  datasets: readonly DatasetSummary[],
  asked: string | null,
  last: string | null,
): DatasetSummary | null {
  const named = (id: string | null) => datasets.find((one) => one.id === id);
  return named(asked) ?? named(last) ?? datasets[0] ?? null;
}

export function useChosenDataset() {
  const [parameters, setParameters] = useSearchParams();
  const datasets = useQuery(datasetsQuery());
  const chosen = choose(datasets.data ?? [], parameters.get("dataset"), kept());
  const asked = parameters.get("dataset");
  useEffect(() => {
    if (asked !== null && asked === chosen?.id) keep(asked);
  }, [asked, chosen?.id]);
  const setChosen = useCallback(
    (id: string) => setParameters(new URLSearchParams({ dataset: id }), { replace: true }),
    [setParameters],
  );
  return { datasets, chosen, setChosen };
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    // Storage may be forbidden.
    return null;
  }
}

function keep(id: string): void {
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // It then holds as long as the address does.
  }
}
