// How an analysis is worked out: step by step while it is, one line to open when it is done.
import { attemptCount, newestStatus, plannedSteps, type Step } from "~/events/steps";
import type { Turn } from "~/events/turn";
import { count } from "~/format";
import { StatusDot } from "~/ui";
import { AttemptView } from "./attempt_view";
import { tagsIn } from "./tags";

export default function Steps({ turn }: { turn: Turn }) {
  const working = turn.ending === null && turn.text === "";
  const open = working || turn.ending === "waiting";
  const placed = tagsIn(turn.text);
  const coming = open ? plannedSteps(turn).slice(turn.steps.at(-1)?.number ?? 0) : [];
  const list = (
    <ol className="space-y-4">
      {turn.steps.map((step, at) => (
        <StepItem
          key={step.number}
          step={step}
          open={working && at === turn.steps.length - 1}
          waits={turn.ending === "waiting" && at === turn.steps.length - 1}
          placed={placed}
        />
      ))}
      {coming.map((goal, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a plan's steps stay in their order
        <li key={at} className="min-w-0 break-words border-l-2 border-dashed pl-3 text-ink-3">
          {(turn.steps.at(-1)?.number ?? 0) + at + 1}. {goal}
        </li>
      ))}
    </ol>
  );
  if (open) return <section aria-label="Steps">{list}</section>;
  return (
    <details className="group/steps">
      <summary className="w-fit cursor-pointer text-ink-2 hover:text-ink">{summary(turn)}</summary>
      <div className="mt-3">{list}</div>
    </details>
  );
}

function summary(turn: Turn): string {
  const { steps, ending } = turn;
  const again = attemptCount(turn) - steps.length;
  const many = steps.length > 1;
  const words =
    ending === null || ending === "answered"
      ? many
        ? `Worked out in ${count(steps.length, "step")}`
        : "Worked out with Python"
      : `${many ? count(steps.length, "step") : "One step"} of the analysis`;
  return again > 0 ? `${words}, ${again === 1 ? "one correction" : `${again} corrections`}` : words;
}

interface StepItemProps {
  step: Step;
  open: boolean;
  /** Its newest code is shown where a person decides about it. */
  waits: boolean;
  placed: readonly string[];
}

function StepItem({ step, open, waits, placed }: StepItemProps) {
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
          place={newest === 0 ? `step ${step.number}` : `step ${step.number}, attempt ${at + 1}`}
          open={open && at === newest}
          shownElsewhere={waits && at === newest && attempt.runId === null}
          placed={placed}
        />
      ))}
    </li>
  );
}
