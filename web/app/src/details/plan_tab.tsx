import { useMemo, useRef } from "react";
import type { RunView, VerdictView } from "~/api/model";
import { Copy, Empty } from "~/ui";
import type { Draft } from "./draft";
import { PlanEditor, type PlanProblem } from "./editor";
import { Section } from "./facts";
import { useNames, usePlanSchema } from "./names";
import { readPlan } from "./plan_text";
import type { useRerun } from "./rerun";
import { RerunBar } from "./rerun_bar";
import { RerunResult } from "./rerun_result";
import { Trouble } from "./trouble";
import { type Fix, mayRun } from "./verdict";
import { VerdictNote } from "./verdict_note";

interface PlanTabProps {
  run: RunView;
  draft: Draft;
  rerun: ReturnType<typeof useRerun>;
  onFix: (fix: Fix) => void;
}

export function PlanTab({ run, draft, rerun, onFix }: PlanTabProps) {
  const bar = useRef<HTMLDivElement>(null);
  const names = useNames(run.dataset_id);
  const schema = usePlanSchema();
  const { state } = draft;
  const problems = useMemo(() => problemsOf(state.verdict), [state.verdict]);
  if (!run.plan) return <Empty title="There is no plan">SQL was handed in, and ran as it was written.</Empty>;
  const submit = () => {
    const plan = readPlan(state.text);
    if (plan && mayRun(state) && !rerun.isPending) rerun.mutate({ plan });
  };
  const correct = async (problem: PlanProblem) => {
    // With the JSON parser, which comes with the editor.
    const { corrected } = await import("./correction");
    draft.edit(corrected(state.text, problem));
  };
  return (
    <div className="space-y-4">
      <Section title="Plan" actions={<Copy text={state.text} label="Copy the plan" />}>
        <PlanEditor
          label="Plan"
          text={state.text}
          schema={schema}
          names={names}
          problems={problems}
          judged={state.judged}
          unreadable={state.phase === "unreadable"}
          onChange={draft.edit}
          onSubmit={submit}
          onLeave={() => bar.current?.focus()}
        />
      </Section>
      <RerunBar
        place={bar}
        onRun={submit}
        onReset={draft.reset}
        mayRun={mayRun(state)}
        edited={draft.edited}
        running={rerun.isPending}
        error={rerun.error}
      />
      {run.status === "failed" && !draft.edited && <Trouble run={run} onFix={onFix} />}
      <VerdictNote draft={draft} onFix={onFix} problems={problems} onMeant={correct} />
      <RerunResult run={run} />
    </div>
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
