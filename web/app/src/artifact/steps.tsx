// How an analysis is worked out: step by step while it is, one line to open when it is done.
import type { Step } from "~/events/steps";
import { newestStatus } from "~/events/steps";
import type { Turn } from "~/events/turn";
import { count } from "~/format";
import { StatusDot } from "~/ui";
import { AttemptView } from "./attempt_view";

export default function Steps({ turn }: { turn: Turn }) {
  const working = turn.ending === null && turn.text === "";
  const list = (
    <ol className="space-y-4">
      {turn.steps.map((step, at) => (
        <StepItem key={step.number} step={step} open={working && at === turn.steps.length - 1} />
      ))}
    </ol>
  );
  if (working) return <section aria-label="Steps">{list}</section>;
  return (
    <details className="group/steps">
      <summary className="w-fit cursor-pointer text-ink-2 hover:text-ink">{summary(turn.steps)}</summary>
      <div className="mt-3">{list}</div>
    </details>
  );
}

function summary(steps: readonly Step[]): string {
  const again = steps.reduce((sum, step) => sum + step.attempts.length - 1, 0);
  const words =
    steps.length === 1 ? "Worked out with Python" : `Worked out in ${count(steps.length, "step")}`;
  return again > 0 ? `${words}, ${again === 1 ? "one correction" : `${again} corrections`}` : words;
}

function StepItem({ step, open }: { step: Step; open: boolean }) {
  const title = step.goal || `Step ${step.number}`;
  const newest = step.attempts.length - 1;
  return (
    <li className="min-w-0 space-y-2 border-l-2 pl-3" aria-label={title}>
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="min-w-0 break-words font-medium">
          {step.goal && <span className="text-ink-3">{step.number}. </span>}
          {title}
        </span>
        <StatusDot status={newestStatus(step)} className="text-small" />
      </p>
      {step.attempts.map((attempt, at) => (
        <AttemptView
          key={attempt.runId ?? at}
          attempt={attempt}
          title={step.attempts.length === 1 ? "Code" : at === 0 ? "First code" : "Corrected code"}
          open={open && at === newest}
        />
      ))}
    </li>
  );
}
