// The layout that a plan and SQL share: the editor, what can be done with it, and what is to be said of it.
import { type ReactNode, useRef } from "react";
import type { RunView } from "~/api/model";
import { Copy } from "~/ui";
import type { Draft } from "./draft";
import { Section } from "./facts";
import type { Edited, useRerun } from "./rerun";
import { RerunBar } from "./rerun_bar";
import { RerunResult } from "./rerun_result";
import { Trouble } from "./trouble";
import { type Fix, mayRun } from "./verdict";

/** What a tab with a draft is given. */
export interface DraftTabProps {
  run: RunView;
  draft: Draft;
  rerun: ReturnType<typeof useRerun>;
  onFix: (fix: Fix) => void;
}

interface LayoutProps extends DraftTabProps {
  title: string;
  /** As in `Copy the SQL`. */
  noun: string;
  /** What is to run; nothing while it cannot be read. */
  changed: () => Edited | null;
  editor: (handlers: EditorHandlers) => ReactNode;
  verdict: ReactNode;
  children?: ReactNode;
}

interface EditorHandlers {
  text: string;
  onChange: (text: string) => void;
  onSubmit: () => void;
  onLeave: () => void;
}

export function DraftTab({ run, draft, rerun, onFix, title, noun, changed, editor, ...rest }: LayoutProps) {
  const bar = useRef<HTMLDivElement>(null);
  const { state } = draft;
  const submit = () => {
    const body = changed();
    if (body && mayRun(state) && !rerun.isPending) rerun.mutate(body);
  };
  return (
    <div className="space-y-4">
      <Section title={title} actions={<Copy text={state.text} label={`Copy the ${noun}`} />}>
        {editor({
          text: state.text,
          onChange: draft.edit,
          onSubmit: submit,
          onLeave: () => bar.current?.focus(),
        })}
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
      {rest.verdict}
      <RerunResult run={run} />
      {rest.children}
    </div>
  );
}
