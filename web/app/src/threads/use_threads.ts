// The threads and what can be done to them. What was done is shown at once, and taken back when it fails.
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { keys } from "~/api/queries";
import { deleteThread, listThreads, renameThread, type Thread } from "~/api/threads";

const PAGE = 200;
const BUSY_MS = 2_000;

type Pages = { pages: Thread[][]; pageParams: number[] };
const KEY = [...keys.threads, "pages"] as const;

export function useThreads() {
  return useInfiniteQuery({
    queryKey: KEY,
    queryFn: ({ pageParam, signal }) => listThreads(PAGE, pageParam, signal),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE ? null : pages.length * PAGE),
    staleTime: 2_000,
    // One that is answered elsewhere stops being busy by itself.
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.some((thread) => thread.status === "busy")) ? BUSY_MS : false,
    refetchOnWindowFocus: true,
  });
}

export function useRename() {
  const change = useOptimistic();
  return useMutation({
    mutationFn: ({ threadId, title }: { threadId: string; title: string }) => renameThread(threadId, title),
    onMutate: ({ threadId, title }) =>
      change((threads) =>
        threads.map((one) =>
          one.thread_id === threadId ? { ...one, metadata: { ...one.metadata, title } } : one,
        ),
      ),
    onError: (_error, _given, before) => before?.restore(),
    onSettled: (_data, _error, _given, before) => before?.refresh(),
  });
}

export function useDelete() {
  const change = useOptimistic();
  return useMutation({
    mutationFn: (threadId: string) => deleteThread(threadId),
    onMutate: (threadId) => change((threads) => threads.filter((one) => one.thread_id !== threadId)),
    onError: (_error, _given, before) => before?.restore(),
    onSettled: (_data, _error, _given, before) => before?.refresh(),
  });
}

function useOptimistic() {
  const queries = useQueryClient();
  return async (by: (threads: Thread[]) => Thread[]) => {
    await queries.cancelQueries({ queryKey: KEY });
    const before = queries.getQueryData<Pages>(KEY);
    if (before) queries.setQueryData<Pages>(KEY, { ...before, pages: before.pages.map(by) });
    return {
      restore: () => queries.setQueryData(KEY, before),
      refresh: () => void queries.invalidateQueries({ queryKey: keys.threads }),
    };
  };
}
