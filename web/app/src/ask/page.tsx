// A new question, or a conversation: one page, so that an answer under way stays when its thread gets an address.
import { useQuery } from "@tanstack/react-query";
import { threadTitleQuery } from "~/api/threads";
import { mainRunId } from "~/events/turn";
import { Page, useDetailsSubject, useThreadId } from "~/shell";
import { useChosenDataset } from "./chosen_dataset";
import { Conversation } from "./conversation";
import { DatasetMenu } from "./dataset_menu";
import { pathTo } from "./exchange";
import { ExportThread } from "./export_thread";
import { Runtime } from "./runtime";
import { ShareThread, useSharedBy } from "./share_thread";
import { SessionProvider, usePageSession, useSessionState } from "./use_session";

export default function AskPage() {
  const session = usePageSession();
  return (
    <SessionProvider value={session}>
      <Ask />
    </SessionProvider>
  );
}

function Ask() {
  const threadId = useThreadId();
  const { datasets, chosen, setChosen } = useChosenDataset();
  const own = useSessionState((state) => state.datasetId);
  const started = useSessionState((state) => state.tree.head !== null || state.exchanges.length > 0);
  const asked = useSessionState((state) => pathTo(state.tree, state.head)[0]?.question.text ?? null);
  const answered = useSessionState((state) =>
    pathTo(state.tree, state.head).some(({ answer }) => answer?.turn.ending),
  );
  const known = useQuery({ ...threadTitleQuery(threadId ?? ""), enabled: threadId !== null });
  const subject = useSessionState(newestRun);
  useDetailsSubject(subject);
  const inThread = threadId !== null || started;
  const datasetId = inThread ? own : (chosen?.id ?? null);
  const sharedBy = useSharedBy(threadId);
  const title = known.data ?? asked ?? (threadId ? "Conversation" : "New question");
  return (
    <Runtime>
      <Page
        still
        title={title}
        bar={<DatasetMenu datasets={datasets.data ?? []} datasetId={datasetId} inThread={inThread} />}
        actions={
          threadId && (
            <>
              {answered && <ExportThread threadId={threadId} />}
              <ShareThread threadId={threadId} title={title} />
            </>
          )
        }
      >
        <Conversation
          datasets={datasets.data ?? []}
          datasetsError={datasets.error}
          coming={!inThread && datasets.isPending}
          onRetryDatasets={() => void datasets.refetch()}
          chosen={inThread ? null : chosen}
          onChoose={setChosen}
          datasetId={datasetId}
          sharedBy={sharedBy}
        />
      </Page>
    </Runtime>
  );
}

const newestRun = (state: Parameters<Parameters<typeof useSessionState>[0]>[0]): string | null => {
  const runs = pathTo(state.tree, state.head).map((step) =>
    step.answer ? mainRunId(step.answer.turn) : null,
  );
  return runs.findLast((run) => run !== null) ?? null;
};
