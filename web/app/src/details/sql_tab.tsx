import { useMemo } from "react";
import type { RunView, VerdictView } from "~/api/model";
import { Copy, Empty } from "~/ui";
import type { Draft } from "./draft";
import { DraftTab, type DraftTabProps } from "./draft_tab";
import { type Mark, SqlEditor } from "./editor";
import { Section } from "./facts";
import { useNames } from "./names";
import { rangeOf } from "./position";
import { VerdictNote } from "./verdict_note";

export function SqlTab(props: DraftTabProps) {
  const { run, draft, onFix } = props;
  const names = useNames(run.dataset_id);
  const { state } = draft;
  const marks = useMemo(() => marksOf(state.verdict, state.judged), [state.verdict, state.judged]);
  if (run.sql === null && !draft.edited) return <NoSql run={run} />;
  return (
    <DraftTab
      {...props}
      title={draft.edited ? "SQL, edited" : "SQL as written"}
      noun="SQL"
      changed={() => ({ sql: state.text })}
      editor={(handlers) => <SqlEditor label="SQL" names={names} marks={marks} {...handlers} />}
      verdict={<VerdictNote draft={draft} onFix={onFix} />}
    >
      <Canonical run={run} draft={draft} />
    </DraftTab>
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
