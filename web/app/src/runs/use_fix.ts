// A corrected plan or SQL, run as a run of its own; its page is shown next.
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import type { RunView } from "~/api/model";
import { createRun } from "~/api/rest";
import { places } from "~/shell";

export type Fix = RunView["fixes"][number];

export function useFix(run: RunView) {
  const go = useNavigate();
  return useMutation({
    mutationFn: (fix: Fix) =>
      createRun({
        dataset_id: run.dataset_id,
        question: run.question,
        chart: true,
        ...(fix.plan ? { plan: fix.plan } : { sql: fix.text ?? null }),
      }),
    onSuccess: (view) => go(places.run(view.run_id)),
  });
}
