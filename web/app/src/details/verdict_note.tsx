// What the gate says of the text as it is, below the editor.

import { Check, CircleAlert, Wand2 } from "lucide-react";
import type { VerdictView } from "~/api/model";
import { sentence } from "~/format";
import { Button, CodeWords, classes, ErrorNote, useLate } from "~/ui";
import { type Draft, UNREADABLE } from "./draft";
import type { PlanProblem } from "./editor";
import { Fixes } from "./fixes";
import { meantBy } from "./meant";
import { Refusal } from "./refusal";
import { type Fix, isSettled } from "./verdict";

interface VerdictNoteProps {
  draft: Draft;
  onFix: (fix: Fix) => void;
  /** Of a plan: each one is listed with its place. */
  problems?: readonly PlanProblem[];
  /** Puts in the name that a problem says was meant. */
  onMeant?: (problem: PlanProblem) => void;
}

export function VerdictNote(props: VerdictNoteProps) {
  const { state } = props.draft;
  const settled = isSettled(state);
  const late = useLate(!settled);
  return (
    <div role="status" aria-live="polite" aria-busy={!settled} className="min-h-5 space-y-2">
      {late && <p className="text-ink-3">Checking…</p>}
      <div className={classes(!settled && "opacity-60")}>
        <Said {...props} />
      </div>
    </div>
  );
}

function Said({ draft, problems = [], onFix, onMeant }: VerdictNoteProps) {
  const { state } = draft;
  if (state.phase === "failed") return <ErrorNote error={state.problem} onRetry={draft.checkAgain} />;
  if (state.phase === "unreadable") {
    return (
      <Refusal>
        <p>{UNREADABLE.message}</p>
        <p className="text-ink-2">{UNREADABLE.suggestion}</p>
      </Refusal>
    );
  }
  const { verdict } = state;
  if (!verdict) return null;
  if (verdict.verdict === "approved") return <Approved verdict={verdict} />;
  return (
    <Refusal>
      {problems.length > 0 ? (
        <Problems
          problems={problems}
          onMeant={verdict.fixes.length === 0 && isSettled(state) ? onMeant : undefined}
        />
      ) : (
        <Reason verdict={verdict} />
      )}
      <Fixes fixes={verdict.fixes} onFix={onFix} disabled={!isSettled(state)} />
    </Refusal>
  );
}

export function Reason({ verdict }: { verdict: VerdictView }) {
  return (
    <>
      <p>
        <CodeWords text={verdict.message ?? ""} />
      </p>
      {verdict.suggestion && (
        <p className="text-ink-2">
          <CodeWords text={sentence(verdict.suggestion)} />
        </p>
      )}
    </>
  );
}

interface ProblemsProps {
  problems: readonly PlanProblem[];
  onMeant?: ((problem: PlanProblem) => void) | undefined;
}

const Problems = ({ problems, onMeant }: ProblemsProps) => (
  <ul className="space-y-2">
    {problems.map((problem) => {
      const { field, message, suggestion } = problem;
      const meant = meantBy(message);
      return (
        <li key={`${field} ${message}`}>
          {field && <code className="font-mono text-ink-3 text-small">{field}</code>}
          <p>
            <CodeWords text={sentence(message)} />
          </p>
          {suggestion && <p className="text-ink-2 text-small">{suggestion.replaceAll("`", "")}</p>}
          {meant && onMeant && (
            <Button size="small" className="mt-1" onClick={() => onMeant(problem)}>
              <Wand2 aria-hidden />
              <span>
                <CodeWords text={`Use \`${meant}\``} />
              </span>
            </Button>
          )}
        </li>
      );
    })}
  </ul>
);

export function Approved({ verdict }: { verdict: VerdictView }) {
  const functions = verdict.functions.filter((name) => /^\w+$/.test(name));
  return (
    <div className="space-y-1">
      <p className="flex gap-2">
        <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
        <span className="min-w-0 break-words">
          <span className="text-good">Approved.</span>{" "}
          <span className="text-ink-2">
            {verdict.tables.length > 0 && <>Reads {verdict.tables.join(", ")}</>}
            {verdict.tables.length > 0 && functions.length > 0 && "; "}
            {functions.length > 0 && <>calls {functions.join(", ")}</>}
          </span>
        </span>
      </p>
      <Warnings warnings={verdict.warnings} />
    </div>
  );
}

export function Warnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="space-y-1">
      {warnings.map((warning) => (
        <li key={warning} className="flex gap-2">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warning" />
          <span className="min-w-0 break-words">
            <span className="sr-only">Warning: </span>
            <CodeWords text={sentence(warning)} />
          </span>
        </li>
      ))}
    </ul>
  );
}
