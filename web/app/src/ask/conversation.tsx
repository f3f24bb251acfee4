// What is under the top line: the welcome or the exchanges, and the place to write below them.
import { ThreadPrimitive } from "@assistant-ui/react";
import { Link } from "react-router";
import type { DatasetSummary } from "~/api/model";
import { places } from "~/shell";
import { Empty, ErrorNote, SkeletonLines } from "~/ui";
import { AnswerMessage } from "./answer";
import { useAskCommands } from "./ask_commands";
import { Composer } from "./composer";
import { QuestionMessage } from "./question";
import { useQuestionOnTop } from "./scrolling";
import { useSession, useSessionState } from "./use_session";
import { Welcome } from "./welcome";

interface ConversationProps {
  datasets: readonly DatasetSummary[];
  datasetsError: unknown;
  onRetryDatasets: () => void;
  /** A new question waits for the list of datasets. */
  coming: boolean;
  /** Of a new question; nothing in a thread. */
  chosen: DatasetSummary | null;
  onChoose: (id: string) => void;
  datasetId: string | null;
  /** Of a conversation of somebody else, which can be read only. */
  sharedBy: string | null;
}

export function Conversation(props: ConversationProps) {
  const { datasets, datasetId, sharedBy } = props;
  const problem = useSessionState((state) => state.problem);
  const viewport = useQuestionOnTop();
  useAskCommands(datasets);
  const name = datasets.find((one) => one.id === datasetId)?.title ?? datasetId;
  return (
    <ThreadPrimitive.Root className="flex min-h-0 flex-1 flex-col">
      <ThreadPrimitive.Viewport
        ref={viewport}
        autoScroll={false}
        scrollToBottomOnInitialize={false}
        scrollToBottomOnRunStart={false}
        scrollToBottomOnThreadSwitch={false}
        // What scrolls must be reachable by keyboard.
        tabIndex={0}
        style={{ containerType: "size" }}
        className="min-h-0 flex-1 overflow-y-auto outline-none"
      >
        <Shown {...props} />
      </ThreadPrimitive.Viewport>
      {!problem && (
        <div className="shrink-0 border-t">
          <div className="mx-auto w-full max-w-3xl px-4 pt-3 pb-4">
            <Notice />
            {sharedBy ? (
              <ReadOnly by={sharedBy} />
            ) : (
              <Composer
                placeholder={name ? `Ask about ${name}` : "Ask about your data"}
                datasetId={datasetId}
              />
            )}
          </div>
        </div>
      )}
    </ThreadPrimitive.Root>
  );
}

function Shown({ datasets, datasetsError, onRetryDatasets, coming, chosen, onChoose }: ConversationProps) {
  const problem = useSessionState((state) => state.problem);
  const opening = useSessionState((state) => state.opening);
  const threadId = useSessionState((state) => state.threadId);
  const session = useSession();
  if (problem?.status === 404) return <NoThread />;
  if (problem)
    return (
      <div className="mx-auto w-full max-w-3xl p-4">
        <ErrorNote error={problem} onRetry={() => threadId && void session.open(threadId)} />
      </div>
    );
  if (datasetsError)
    return (
      <div className="mx-auto w-full max-w-3xl p-4">
        <ErrorNote error={datasetsError} onRetry={onRetryDatasets} />
      </div>
    );
  if (opening || coming)
    return (
      <div className="mx-auto w-full max-w-3xl px-4 py-8">
        <SkeletonLines lines={6} label={opening ? "Loading the conversation" : "Loading the datasets"} />
      </div>
    );
  if (chosen) return <Welcome datasets={datasets} chosen={chosen} onChoose={onChoose} />;
  return (
    <ThreadPrimitive.Messages>
      {({ message }) => (message.role === "user" ? <QuestionMessage /> : <AnswerMessage />)}
    </ThreadPrimitive.Messages>
  );
}

function NoThread() {
  return (
    <Empty title="There is no conversation at this address.">
      <p>It may have been deleted.</p>
      <Link to={places.ask} className="text-accent underline underline-offset-2">
        Ask a new question
      </Link>
    </Empty>
  );
}

function ReadOnly({ by }: { by: string }) {
  return (
    <p className="text-ink-2">
      {by} shared this conversation with you to read.{" "}
      <Link to={places.ask} className="text-accent underline underline-offset-2">
        Ask in one of your own
      </Link>
    </p>
  );
}

/** Something that was tried and did not work. */
function Notice() {
  const notice = useSessionState((state) => state.notice);
  const session = useSession();
  if (!notice) return null;
  return (
    <ErrorNote error={notice} className="mb-2">
      <button type="button" className="text-accent underline" onClick={() => session.dismiss()}>
        Dismiss
      </button>
    </ErrorNote>
  );
}
