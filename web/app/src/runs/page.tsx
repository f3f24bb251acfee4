import { useInfiniteQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { hasEnded, type RunView } from "~/api/model";
import { runsQuery } from "~/api/queries";
import { Page, places, useWide } from "~/shell";
import { Button, Empty, ErrorNote, SkeletonLines, useLate } from "~/ui";
import { CompareBar } from "./compare_bar";
import { FilterBar } from "./filter_bar";
import { asFilters, type Chosen, chosenIn, isFiltered, NOTHING_CHOSEN, withChosen } from "./filters";
import { isSample, markOf } from "./run_marks";
import { RunRow } from "./run_row";
import { useNow } from "./use_now";

const A_PAGE = 50;
/** As `lg` of the style sheet. */
const COLUMNS_FIT = 1024;

export default function RunsPage() {
  const [parameters, setParameters] = useSearchParams();
  const chosen = chosenIn(parameters);
  const choose = (next: Chosen) =>
    setParameters((before) => withChosen(before, next), { replace: true, preventScrollReset: true });
  return (
    <Page title="Runs">
      <div className="mx-auto max-w-6xl p-4 md:p-6">
        <FilterBar chosen={chosen} onChange={choose} />
        <RunList chosen={chosen} onClear={() => choose({ ...NOTHING_CHOSEN, samples: chosen.samples })} />
      </div>
    </Page>
  );
}

function RunList({ chosen, onClear }: { chosen: Chosen; onClear: () => void }) {
  const runs = useInfiniteQuery({
    ...runsQuery(asFilters(chosen, A_PAGE)),
    refetchOnWindowFocus: true,
    refetchOnMount: "always",
    placeholderData: (before) => before,
    refetchInterval: (query) => (query.state.data?.pages.some((page) => isLive(page.runs)) ? 1000 : false),
  });
  const [picked, setPicked] = useState<readonly RunView[]>([]);
  const found = runs.data?.pages.flatMap((page) => page.runs) ?? [];
  const all = chosen.samples ? found : found.filter((run) => !isSample(run));
  const now = useNow(isLive(all) ? 200 : 30_000);
  const wide = useWide(COLUMNS_FIT);
  const late = useLate(runs.isPlaceholderData);
  // A third choice takes the place of the first.
  const pick = (run: RunView) =>
    setPicked((before) =>
      before.some((one) => one.run_id === run.run_id)
        ? before.filter((one) => one.run_id !== run.run_id)
        : [...before, run].slice(-2),
    );
  return (
    <>
      {runs.isPending && <SkeletonLines lines={12} label="Loading runs" />}
      {runs.error && <ErrorNote error={runs.error} onRetry={() => runs.refetch()} className="mb-4" />}
      {runs.data && all.length === 0 && !runs.hasNextPage && (
        <NoRuns filtered={isFiltered(chosen)} onClear={onClear} />
      )}
      <ul aria-label="Runs" aria-busy={late} className={late ? "opacity-60" : undefined}>
        {all.map((run) => (
          <RunRow
            key={run.run_id}
            run={run}
            mark={markOf(run, all)}
            now={now}
            wide={wide}
            picked={picked.some((one) => one.run_id === run.run_id)}
            onPick={() => pick(run)}
          />
        ))}
      </ul>
      {runs.hasNextPage && (
        <div className="flex justify-center pt-4">
          <Button disabled={runs.isFetchingNextPage} onClick={() => runs.fetchNextPage()}>
            {runs.isFetchingNextPage ? "Loading older runs" : "Show older"}
          </Button>
        </div>
      )}
      <CompareBar picked={picked} onClear={() => setPicked([])} />
    </>
  );
}

const isLive = (runs: readonly RunView[]) => runs.some((run) => !hasEnded(run.status));

function NoRuns({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered) {
    return (
      <Empty title="No run fits these filters" icon={<History aria-hidden />}>
        <Button size="small" onClick={onClear}>
          Clear the filters
        </Button>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has run yet" icon={<History aria-hidden />}>
      <p>
        Every question leaves a run here: what was asked, the SQL, the rows, and a signed proof. Refused ones
        too.
      </p>
      <Link to={places.ask} className="text-accent underline">
        Ask a question
      </Link>
    </Empty>
  );
}
