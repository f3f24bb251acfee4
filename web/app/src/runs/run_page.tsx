// One run: what was asked, what came of it, and what can be done with it.
import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, FileQuestion } from "lucide-react";
import { Link, useParams } from "react-router";
import { problemOf } from "~/api/problem";
import { keys, runQuery } from "~/api/queries";
import { getRun } from "~/api/rest";
import { Page, places, useDetailsSubject } from "~/shell";
import { Empty, ErrorNote, SkeletonLines } from "~/ui";
import { RunActions } from "./run_actions";
import { RunBody } from "./run_body";
import { headingOf } from "./run_words";

export default function RunPage() {
  const { runId = "" } = useParams();
  const { run, view } = useRun(runId);
  useDetailsSubject(view ? runId : null);
  const title = view ? headingOf(view) : "Run";
  return (
    <Page title={title} bar={<Crumbs />} actions={view && <RunActions run={view} />}>
      <div className="mx-auto max-w-4xl p-4 md:p-6">
        {run.isPending && <SkeletonLines lines={8} label="Loading the run" />}
        {run.error && !view && <Missing runId={runId} error={run.error} onRetry={() => run.refetch()} />}
        {view && <RunBody run={view} />}
      </div>
    </Page>
  );
}

/** A run is waited for until its end; while it is pending, its start is looked for too. */
function useRun(runId: string) {
  const run = useQuery(runQuery(runId));
  const pending = run.data?.status === "pending";
  const start = useQuery({
    queryKey: [...keys.run(runId), "start"],
    queryFn: ({ signal }) => getRun(runId, 0, signal),
    enabled: pending,
    refetchInterval: 300,
  });
  return { run, view: (pending && start.data) || run.data };
}

function Crumbs() {
  return (
    <Link to={places.runs} className="flex items-center gap-1 text-ink-2 hover:text-ink [&_svg]:size-4">
      <ArrowLeft aria-hidden />
      Runs
    </Link>
  );
}

interface MissingProps {
  runId: string;
  error: unknown;
  onRetry: () => void;
}

function Missing({ runId, error, onRetry }: MissingProps) {
  if (problemOf(error).status !== 404) return <ErrorNote error={error} onRetry={onRetry} />;
  return (
    <Empty title="This server has no such run" icon={<FileQuestion aria-hidden />}>
      <p>
        There is nothing under <code className="break-all font-mono text-[13px]">{runId}</code>. The link may
        be cut off, or come from another server.
      </p>
      <Link to={places.runs} className="text-accent underline">
        See all runs
      </Link>
    </Empty>
  );
}
