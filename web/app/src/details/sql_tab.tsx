import { useMemo, useRef } from "react";
import type { RunView, VerdictView } from "~/api/model";
import { Copy, Empty } from "~/ui";
import type { Draft } from "./draft";
import { type Mark, SqlEditor } from "./editor";
import { Section } from "./facts";
import { useNames } from "./names";
import { rangeOf } from "./position";
import type { useRerun } from "./rerun";
import { RerunBar } from "./rerun_bar";
import { RerunResult } from "./rerun_result";
import { Trouble } from "./trouble";
import { type Fix, mayRun } from "./verdict";
import { VerdictNote } from "./verdict_note";

interface SqlTabProps {
  run: RunView;
  draft: Draft;
  rerun: ReturnType<typeof useRerun>;
  onFix: (fix: Fix) => void;
}

export function SqlTab({ run, draft, rerun, onFix }: SqlTabProps) {
  const bar = useRef<HTMLDivElement>(null);
  const names = useNames(run.dataset_id);
  const { state } = draft;
  const marks = useMemo(() => marksOf(state.verdict, state.judged), [state.verdict, state.judged]);
  if (run.sql === null && !draft.edited) return <NoSql run={run} />;
  const submit = () => {
    if (mayRun(state) && !rerun.isPending) rerun.mutate({ sql: state.text });
  };
  return (
    <div className="space-y-4">
      <Section
        title={draft.edited ? "SQL, edited" : "SQL as written"}
        actions={<Copy text={state.text} label="Copy the SQL" />}
      >
        <SqlEditor
          label="SQL"
          text={state.text}
          names={names}
          marks={marks}
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
      <VerdictNote draft={draft} onFix={onFix} />
      <RerunResult run={run} />
      <Canonical run={run} draft={draft} />
    </div>
  );
}

/** The gate's own text of it: what ran, or what would run. */
function Canonical({ run, draft }: { run: RunView; draft: Draft }) {
  const names = useNames(run.dataset_id);
  const { state, edited } = draft;
  const text = edited ? (state.phase === "approved" ? state.verdict?.sql : null) : run.executed_sql;
  if (!text) return null;
  const title = edited ? "SQL as it would run" : "SQL as executed";
  return (
    <Section title={title} actions={<Copy text={text} label={`Copy the ${title}`} />}>
      <SqlEditor label={title} text={text} names={names} />
    </Section>
  );
}

function NoSql({ run }: { run: RunView }) {
  if (run.status === "pending" || run.status === "running") {
    return <Empty title="The SQL is not written yet">It is shown here as soon as it is.</Empty>;
  }
  return (
    <Empty title="There is no SQL">
      {run.status === "rejected"
        ? "The plan was refused before any was made of it."
        : "The run ended before any was made."}
    </Empty>
  );
}

function marksOf(verdict: VerdictView | null, judged: string): Mark[] {
  if (verdict?.verdict !== "refused" || typeof verdict.position !== "number") return [];
  return [{ ...rangeOf(judged, verdict.position, verdict.length ?? 0), message: verdict.message ?? "" }];
}
