import { useMemo } from "react";
import type { VerdictView } from "~/api/model";
import { Empty } from "~/ui";
import { DraftTab, type DraftTabProps } from "./draft_tab";
import { PlanEditor, type PlanProblem } from "./editor";
import { useNames, usePlanSchema } from "./names";
import { readPlan } from "./plan_text";
import { VerdictNote } from "./verdict_note";

export function PlanTab(props: DraftTabProps) {
  const { run, draft, onFix } = props;
  const names = useNames(run.dataset_id);
  const schema = usePlanSchema();
  const { state } = draft;
  const problems = useMemo(() => problemsOf(state.verdict), [state.verdict]);
  if (!run.plan) return <Empty title="There is no plan">SQL was handed in, and ran as it was written.</Empty>;
  const correct = async (problem: PlanProblem) => {
    // With the JSON parser, which comes with the editor.
    const { corrected } = await import("./correction");
    draft.edit(corrected(state.text, problem));
  };
  return (
    <DraftTab
      {...props}
      title="Plan"
      noun="plan"
      changed={() => {
        const plan = readPlan(state.text);
        return plan && { plan };
      }}
      editor={(handlers) => (
        <PlanEditor
          label="Plan"
          schema={schema}
          names={names}
          problems={problems}
          judged={state.judged}
          unreadable={state.phase === "unreadable"}
          {...handlers}
        />
      )}
      verdict={<VerdictNote draft={draft} onFix={onFix} problems={problems} onMeant={correct} />}
    />
  );
}

/** A plan's problems come with their places; a refusal of the SQL made from it has none. */
function problemsOf(verdict: VerdictView | null): PlanProblem[] {
  const errors = verdict?.verdict === "refused" ? verdict.details?.errors : undefined;
  if (!Array.isArray(errors)) return [];
  return errors.map((one: Partial<PlanProblem>) => ({
    field: String(one.field ?? ""),
    message: String(one.message ?? ""),
    suggestion: String(one.suggestion ?? ""),
  }));
}
