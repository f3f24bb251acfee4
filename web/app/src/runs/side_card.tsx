import { Link } from "react-router";
import type { RunView } from "~/api/model";
import { ago, time } from "~/format";
import { places, useDetails } from "~/shell";
import { Button, classes, StatusDot } from "~/ui";
import { titleOf } from "./run_words";

interface SideCardProps {
  letter: "A" | "B";
  run: RunView;
  onChange: () => void;
}

export function SideCard({ letter, run, onChange }: SideCardProps) {
  const details = useDetails();
  const title = titleOf(run);
  return (
    <div className="flex h-full flex-col gap-2">
      <div className="flex items-start gap-3">
        <Letter letter={letter} />
        <h2
          className={classes(
            "line-clamp-3 min-w-0 flex-1 break-words",
            title.code && "font-mono text-[13px]",
          )}
        >
          <Link to={places.run(run.run_id)} className="hover:text-accent hover:underline">
            {title.text}
          </Link>
        </h2>
      </div>
      {run.error && <p className="pl-9 text-danger">{run.error.message}</p>}
      <div className="mt-auto flex flex-wrap items-center gap-x-3 pl-9 text-small">
        <StatusDot status={run.status} />
        <time dateTime={run.created_at} title={time(run.created_at).text} className="text-ink-3">
          {ago(run.created_at).text}
        </time>
        <span className="ml-auto flex gap-1">
          <Button kind="quiet" size="small" onClick={() => details.open(run.run_id)}>
            Details
          </Button>
          <Button kind="quiet" size="small" onClick={onChange}>
            Change
          </Button>
        </span>
      </div>
    </div>
  );
}

export const Letter = ({ letter }: { letter: "A" | "B" }) => (
  <span className="flex size-6 shrink-0 items-center justify-center rounded border border-line-strong font-medium text-small">
    {letter}
  </span>
);
