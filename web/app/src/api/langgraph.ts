// The LangGraph client, for streaming and for a thread's states. It is large and no page needs it to be
// painted, so it is loaded at first use. Lists of threads need only `threads.ts`.
import type { Client } from "@langchain/langgraph-sdk/client";
import type { ConversationState } from "./wire";

export type LangGraph = Client<ConversationState>;

export const STREAM_MODES = ["values", "messages-tuple", "custom"] as const;

let client: Promise<LangGraph> | undefined;
const watchers = new Set<() => void>();

/** Calls back whenever a stream that broke off is asked for again; calling what it returns ends that. */
export function onReconnect(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The client reconnects without an event: its request for the rest shows that it did. */
const watchedFetch: typeof fetch = (input, init) => {
  if (new Headers(init?.headers).has("last-event-id")) for (const watcher of watchers) watcher();
  return fetch(input, init);
};

export function langgraph(): Promise<LangGraph> {
  client ??= import("@langchain/langgraph-sdk/client").then(
    (sdk) =>
      new sdk.Client<ConversationState>({
        apiUrl: `${location.origin}/langgraph`,
        // A question that cannot be sent is said at once; the person decides about another try.
        callerOptions: { maxRetries: 0, fetch: watchedFetch },
      }),
    (thrown: unknown) => {
      // The next use tries again.
      client = undefined;
      throw thrown;
    },
  );
  return client;
}
