// The conversations, newest first.
import { useDeferredValue, useState } from "react";
import { useNavigate } from "react-router";
import { type Thread, titleOf } from "~/api/threads";
import { useCommandList } from "~/commands";
import { places, useThreadId } from "~/shell";
import { Button, ErrorNote, SearchInput, SkeletonLines } from "~/ui";
import { DeleteThread } from "./delete_thread";
import { found, groupedByDay } from "./groups";
import { ThreadRow } from "./row";
import { useThreads } from "./use_threads";

export interface ThreadListProps {
  /** A thread was opened. */
  onGo?: (() => void) | undefined;
}

const IN_PALETTE = 50;

export default function ThreadList({ onGo }: ThreadListProps) {
  const threads = useThreads();
  const current = useThreadId();
  const [text, setText] = useState("");
  const [leaving, setLeaving] = useState<Thread | null>(null);
  const wanted = useDeferredValue(text);
  const all = threads.data?.pages.flat() ?? [];
  const asked = found(all, "");
  const shown = found(all, wanted);
  useThreadCommands(asked);
  if (threads.isPending)
    return (
      <div className="px-2 py-1">
        <SkeletonLines label="Loading threads" />
      </div>
    );
  if (threads.error && all.length === 0)
    return <ErrorNote error={threads.error} onRetry={() => void threads.refetch()} />;
  if (asked.length === 0)
    return <p className="px-2 py-1 text-ink-3 text-small">Your questions will be listed here.</p>;
  return (
    <>
      <div className="sticky top-0 z-10 bg-panel pb-2">
        <SearchInput
          label="Search questions"
          placeholder="Search"
          value={text}
          onText={setText}
          fieldClassName="border-line-strong"
        />
      </div>
      {shown.length === 0 && <p className="px-2 py-1 text-ink-3 text-small">No question has these words.</p>}
      {groupedByDay(shown).map(({ day, threads: list }) => (
        <section key={day} aria-label={day} className="pb-3">
          <h2 className="px-2 py-1 text-ink-3 text-small">{day}</h2>
          <ul>
            {list.map((thread) => (
              <ThreadRow
                key={thread.thread_id}
                thread={thread}
                current={thread.thread_id === current}
                onGo={onGo}
                onDelete={() => setLeaving(thread)}
              />
            ))}
          </ul>
        </section>
      ))}
      {threads.hasNextPage && (
        <Button
          kind="quiet"
          size="small"
          className="mb-2 w-full"
          disabled={threads.isFetchingNextPage}
          onClick={() => void threads.fetchNextPage()}
        >
          {threads.isFetchingNextPage ? "Loading" : "Show older"}
        </Button>
      )}
      <DeleteThread thread={leaving} onClose={() => setLeaving(null)} />
    </>
  );
}

function useThreadCommands(threads: readonly Thread[]): void {
  const go = useNavigate();
  useCommandList(
    threads.slice(0, IN_PALETTE).map((thread) => ({
      id: `thread.${thread.thread_id}`,
      title: titleOf(thread),
      group: "Questions",
      run: () => void go(places.thread(thread.thread_id)),
    })),
  );
}
