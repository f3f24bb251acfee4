// Everything about one run: how it was read, plan and SQL or code, log, proof.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Square, X } from "lucide-react";
import { hasEnded, type RunView } from "~/api/model";
import { keys, runQuery } from "~/api/queries";
import { cancelRun } from "~/api/rest";
import { pythonOf } from "~/artifact/python_of";
import { useCommandList } from "~/commands";
import { duration } from "~/format";
import { Button, ErrorNote, IconButton, SkeletonLines, StatusDot, type Tab, Tabs } from "~/ui";
import { CodeTab } from "./code_tab";
import { usePlanDraft, useSqlDraft } from "./draft";
import { useKeptTab } from "./kept_tab";
import { LogTab } from "./log_tab";
import { PlanTab } from "./plan_tab";
import { planText } from "./plan_text";
import { ProofTab } from "./proof_tab";
import { ReadingTab } from "./reading_tab";
import { useRerun } from "./rerun";
import { RerunStrip } from "./rerun_result";
import { SqlTab } from "./sql_tab";
import type { Fix } from "./verdict";

export interface DetailsPanelProps {
  runId: string;
  onClose: () => void;
}

export default function DetailsPanel({ runId, onClose }: DetailsPanelProps) {
  const run = useQuery(runQuery(runId));
  return (
    <>
      <header className="flex h-12 shrink-0 items-center gap-3 border-b px-4">
        <h2 className="font-medium">Details</h2>
        <div className="flex min-w-0 flex-1 items-center gap-2">{run.data && <State run={run.data} />}</div>
        <IconButton label="Close details" keys="d" onClick={onClose}>
          <X />
        </IconButton>
      </header>
      {run.isPending && (
        <div className="p-4">
          <SkeletonLines lines={6} label="Loading details" />
        </div>
      )}
      {run.error && !run.data && (
        <div className="p-4">
          <ErrorNote error={run.error} onRetry={() => run.refetch()} />
        </div>
      )}
      {run.data && <Opened run={run.data} />}
    </>
  );
}

function State({ run }: { run: RunView }) {
  const client = useQueryClient();
  const stopped = useMutation({
    mutationFn: () => cancelRun(run.run_id),
    onSuccess: (view) => client.setQueryData(keys.run(run.run_id), view),
  });
  return (
    <>
      <StatusDot status={run.status} />
      <span className="truncate text-ink-3">{timeWords(run)}</span>
      {!hasEnded(run.status) && (
        <Button size="small" disabled={stopped.isPending} onClick={() => stopped.mutate()}>
          <Square aria-hidden />
          Stop
        </Button>
      )}
    </>
  );
}

function timeWords(run: RunView): string {
  if (run.cached_from !== null) return "from an earlier run";
  if (run.status === "succeeded") return duration(run.exec_time_ms);
  return run.finished_at === null ? "" : duration(Date.parse(run.finished_at) - Date.parse(run.created_at));
}

function Opened({ run }: { run: RunView }) {
  const [tab, choose] = useKeptTab();
  const plan = usePlanDraft(run);
  const sql = useSqlDraft(run);
  const rerun = useRerun(run);
  const fix = ({ text, plan: mended }: Fix) => {
    if (mended) plan.edit(planText(mended));
    else if (text) sql.edit(text);
    choose(mended ? "plan" : "sql");
  };
  const code = pythonOf(run);
  const written: readonly Tab[] =
    code === null
      ? [
          {
            id: "plan",
            title: "Plan",
            content: <PlanTab run={run} draft={plan} rerun={rerun} onFix={fix} />,
          },
          { id: "sql", title: "SQL", content: <SqlTab run={run} draft={sql} rerun={rerun} onFix={fix} /> },
        ]
      : [{ id: "code", title: "Code", content: <CodeTab run={run} code={code} /> }];
  const tabs: readonly Tab[] = [
    { id: "reading", title: "Reading", content: <ReadingTab run={run} onFix={fix} /> },
    ...written,
    { id: "log", title: "Log", content: <LogTab run={run} onFix={fix} /> },
    { id: "proof", title: "Proof", content: <ProofTab run={run} /> },
  ];
  useCommandList(
    tabs.map(({ id, title }) => ({
      id: `details.${id}`,
      title: `Details: ${String(title)}`,
      group: "Details",
      run: () => choose(id),
    })),
  );
  return (
    <>
      <RerunStrip run={run} />
      <Tabs
        label="Details"
        tabs={tabs}
        // Who looked at SQL last wants to see what ran: here, that is the code.
        value={tabs.some(({ id }) => id === tab) ? tab : (written.at(-1)?.id ?? "reading")}
        onChange={choose}
        className="flex-1"
        contentClassName="overflow-auto p-4"
      />
    </>
  );
}
