import { useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Link } from "react-router";
import { runsQuery } from "~/api/queries";
import { ago } from "~/format";
import { places } from "~/shell";
import { classes, ErrorNote, Input, SkeletonLines, StatusDot } from "~/ui";
import { isSample, markOf } from "./run_marks";
import { titleOf } from "./run_words";
import { Letter } from "./side_card";

interface RunPickerProps {
  letter: "A" | "B";
  /** The run of the other side. */
  except: string;
  onPick: (runId: string) => void;
}

const SHOWN = 20;

export function RunPicker({ letter, except, onPick }: RunPickerProps) {
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim());
  const runs = useInfiniteQuery({
    ...runsQuery({ text: wanted || undefined, limit: SHOWN }),
    placeholderData: (before) => before,
  });
  const all = runs.data?.pages[0]?.runs ?? [];
  const found = all.filter((run) => run.run_id !== except && !isSample(run));
  return (
    <section aria-label={`Choose run ${letter}`} className="min-w-0 rounded-md border p-4">
      <div className="mb-3 flex items-center gap-3">
        <Letter letter={letter} />
        <Input
          type="search"
          label={`Search for run ${letter}`}
          placeholder="Search for a run to compare"
          maxLength={500}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="flex-1"
        />
      </div>
      {runs.isPending && <SkeletonLines lines={6} label="Loading runs" />}
      {runs.error && <ErrorNote error={runs.error} onRetry={() => runs.refetch()} />}
      {runs.data && found.length === 0 && (
        <p className="py-4 text-center text-ink-2">
          {text ? (
            "No run has that in it."
          ) : (
            <>
              There is no other run yet.{" "}
              <Link to={places.ask} className="text-accent underline">
                Ask a question
              </Link>
            </>
          )}
        </p>
      )}
      <ul className="max-h-80 overflow-auto">
        {found.map((run) => {
          const title = titleOf(run);
          const mark = markOf(run, all);
          return (
            <li key={run.run_id}>
              <button
                type="button"
                onClick={() => onPick(run.run_id)}
                className="flex w-full flex-col rounded-md px-2 py-1.5 text-left transition-colors hover:bg-hover"
              >
                <span className={classes("w-full truncate", title.code && "font-mono text-[13px]")}>
                  {title.text}
                </span>
                <span className="flex gap-3 text-ink-3 text-small">
                  <StatusDot status={run.status} />
                  <span>{run.dataset_id}</span>
                  <span>{ago(run.created_at).text}</span>
                  {mark && <span>{mark}</span>}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
