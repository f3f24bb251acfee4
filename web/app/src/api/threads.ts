// Threads of the LangGraph protocol, as far as plain requests go: list, read, rename, delete.
import { queryOptions } from "@tanstack/react-query";
import { request } from "./http";
import { keys } from "./queries";
import { type ConversationState, textOf, type WireInterrupt } from "./wire";

export interface Thread {
  thread_id: string;
  created_at: string;
  updated_at: string;
  status: "idle" | "busy" | "interrupted" | "error";
  /** `graph_id` is the dataset; `title` is what a person named the thread, else what its first answer computed. */
  metadata: { graph_id?: string; title?: string; [name: string]: unknown };
  /** In a list only the first message. */
  values: ConversationState | null;
  error?: unknown;
  /** Whose it is. */
  owner?: string;
}

const at = (threadId: string) => `/langgraph/threads/${encodeURIComponent(threadId)}`;

export const listThreads = (limit = 200, offset = 0, signal?: AbortSignal) =>
  request<Thread[]>("/langgraph/threads/search", {
    body: { limit, offset, sort_by: "updated_at", sort_order: "desc" },
    ...(signal ? { signal } : {}),
  });

/** With its whole state. */
export const getThread = (threadId: string, signal?: AbortSignal) =>
  request<Thread>(at(threadId), signal ? { signal } : {});

export const createThread = () => request<Thread>("/langgraph/threads", { body: { metadata: {} } });

export const renameThread = (threadId: string, title: string) =>
  request<Thread>(at(threadId), { method: "PATCH", body: { metadata: { title } } });

export const deleteThread = (threadId: string) => request<unknown>(at(threadId), { method: "DELETE" });

/** A checkpoint of a thread. Those that are no end of a branch name their messages without what was said. */
export interface KeptState {
  values: ConversationState | null;
  checkpoint: { checkpoint_id: string } | null;
  parent_checkpoint: { checkpoint_id: string } | null;
  metadata?: { run_id?: string | null } | null;
  interrupts?: WireInterrupt[];
}

/** All checkpoints, newest first. */
export const threadHistory = (threadId: string, signal?: AbortSignal) =>
  request<KeptState[]>(`${at(threadId)}/history`, { body: { limit: 1 }, ...(signal ? { signal } : {}) });

/** A run of the LangGraph protocol: one turn of the conversation. */
export interface ThreadRun {
  run_id: string;
  created_at: string;
  status: "pending" | "running" | "success" | "error" | "interrupted" | (string & {});
  error?: { error: string; message: string } | null;
}

export const newestThreadRun = async (threadId: string, signal?: AbortSignal): Promise<ThreadRun | null> => {
  const runs = await request<ThreadRun[]>(`${at(threadId)}/runs`, {
    query: { limit: 1 },
    ...(signal ? { signal } : {}),
  });
  return runs[0] ?? null;
};

/** Ends the turn and the run in its sandbox, and waits until both have ended. */
export const cancelThreadRun = (threadId: string, runId: string) =>
  request<null>(`${at(threadId)}/runs/${encodeURIComponent(runId)}/cancel`, {
    method: "POST",
    query: { wait: 1 },
  });

/** What a thread is called: as a person named it, by what its first answer computed, or by its first question. */
export function titleOf(thread: Thread): string {
  if (thread.metadata.title) return thread.metadata.title;
  const first = thread.values?.messages?.[0];
  return (first && textOf(first.content).trim()) || "New conversation";
}

export const threadsQuery = () =>
  queryOptions({
    queryKey: keys.threads,
    queryFn: ({ signal }) => listThreads(200, 0, signal),
    staleTime: 2_000,
  });

/** Whose one thread is; null when it is not there. */
export const threadOwnerQuery = (threadId: string) =>
  queryOptions({
    queryKey: [...keys.threads, "owner", threadId],
    queryFn: async ({ signal }) => {
      const [thread] = await request<Thread[]>("/langgraph/threads/search", {
        body: { ids: [threadId], limit: 1 },
        signal,
      });
      return thread?.owner ?? null;
    },
    staleTime: 60_000,
  });

/** What one thread is called. */
export const threadTitleQuery = (threadId: string) =>
  queryOptions({
    queryKey: [...keys.threads, "title", threadId],
    queryFn: async ({ signal }) => {
      const [thread] = await request<Thread[]>("/langgraph/threads/search", {
        body: { ids: [threadId], limit: 1 },
        signal,
      });
      return thread ? titleOf(thread) : null;
    },
    staleTime: 2_000,
  });

export const threadQuery = (threadId: string) =>
  queryOptions({
    queryKey: keys.thread(threadId),
    queryFn: ({ signal }) => getThread(threadId, signal),
    staleTime: 2_000,
  });
