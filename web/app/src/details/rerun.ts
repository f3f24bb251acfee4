// An edited plan or SQL is run as a run of its own. The panel goes on to it; the one before is a step back.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useLocation, useNavigate } from "react-router";
import type { PlanJson, RunView } from "~/api/model";
import { keys } from "~/api/queries";
import { createRun } from "~/api/rest";

/** What takes longer is watched from the run's own panel. */
const WAIT_S = 2;

export type Edited = { sql: string } | { plan: PlanJson };

export function useRerun(run: RunView) {
  const client = useQueryClient();
  const show = useShowRun();
  const original = useOriginal() ?? run.run_id;
  return useMutation({
    mutationFn: (edited: Edited) =>
      createRun({ dataset_id: run.dataset_id, question: run.question, chart: true, ...edited }, WAIT_S),
    onSuccess: (made) => {
      client.setQueryData(keys.run(made.run_id), made);
      void client.invalidateQueries({ queryKey: [...keys.runs, "list"] });
      show(made.run_id, original);
    },
  });
}

/** Shows another run in the panel; the browser's way back leads to this one. */
export function useShowRun(): (runId: string, original?: string) => void {
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  return useCallback(
    (runId, original) => {
      const parameters = new URLSearchParams(search);
      parameters.set("details", runId);
      navigate({ pathname, search: `?${parameters}` }, { state: original ? { original } : null });
    },
    [navigate, pathname, search],
  );
}

/** The run that the one shown was edited from. It is kept with the entry in the browser's history. */
export function useOriginal(): string | null {
  const state: unknown = useLocation().state;
  const original = (state as { original?: unknown } | null)?.original;
  return typeof original === "string" ? original : null;
}
