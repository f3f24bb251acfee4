// What the session needs from the server: the LangGraph client for streams, plain requests for the rest.
import { langgraph, onReconnect, STREAM_MODES } from "~/api/langgraph";
import type { PlanJson } from "~/api/model";
import { isProblemBody, Problem } from "~/api/problem";
import {
  cancelThreadRun,
  getThread,
  type KeptState,
  newestThreadRun,
  type Thread,
  type ThreadRun,
  threadHistory,
} from "~/api/threads";
import type { WireMessage } from "~/api/wire";

/** One part of a stream, as the client gives it. */
export interface StreamPart {
  id?: string;
  event: string;
  data: unknown;
}

export interface Order {
  threadId: string;
  datasetId: string;
  /** A new question; without one, the checkpoint's is answered again. */
  message?: { id: string; text: string; plan: PlanJson | null };
  checkpointId?: string | null;
  /** A person's decision about what waits for approval. */
  resume?: unknown;
  signal: AbortSignal;
  /** The server has taken it. */
  onBegun: (threadRunId: string) => void;
}

export interface Wire {
  start(order: Order): AsyncIterable<StreamPart>;
  /** From its beginning, or after the part with the id `after`. */
  join(threadId: string, threadRunId: string, signal: AbortSignal, after?: string): AsyncIterable<StreamPart>;
  cancel(threadId: string, threadRunId: string): Promise<unknown>;
  history(threadId: string): Promise<KeptState[]>;
  thread(threadId: string): Promise<Thread>;
  newestRun(threadId: string): Promise<ThreadRun | null>;
  onReconnect(watcher: () => void): () => void;
}

const MODES = [...STREAM_MODES];

export const wire: Wire = {
  async *start({ threadId, datasetId, message, checkpointId, resume, signal, onBegun }) {
    const client = await langgraph();
    try {
      yield* client.runs.stream(threadId, datasetId, {
        input: message ? { messages: [humanMessage(message)] } : resume === undefined ? null : undefined,
        ...(resume === undefined ? {} : { command: { resume } }),
        ...(checkpointId ? { checkpointId } : {}),
        streamMode: MODES,
        ifNotExists: "create",
        onDisconnect: "continue",
        signal,
        onRunCreated: ({ run_id }) => onBegun(run_id),
      });
    } catch (thrown) {
      throw streamProblem(thrown);
    }
  },
  async *join(threadId, threadRunId, signal, after) {
    const client = await langgraph();
    try {
      yield* client.runs.joinStream(threadId, threadRunId, {
        signal,
        streamMode: MODES,
        ...(after ? { lastEventId: after } : {}),
      });
    } catch (thrown) {
      throw streamProblem(thrown);
    }
  },
  cancel: cancelThreadRun,
  history: threadHistory,
  thread: getThread,
  newestRun: newestThreadRun,
  onReconnect,
};

/** With the plan of the choice it takes, where it takes one. */
export function humanMessage({ id, text, plan }: NonNullable<Order["message"]>): WireMessage {
  const chosen = plan ? { additional_kwargs: { sandtable: { plan } } } : {};
  return { type: "human", id, content: text, ...chosen };
}

/** The client's errors hold the server's own words as JSON text; without an answer the connection is to blame. */
export function streamProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  const { status, text } = thrown as { status?: unknown; text?: unknown };
  if (typeof status === "number" && status >= 400) {
    const told = parsed(text)?.error;
    if (isProblemBody(told)) return new Problem(told, status);
    return new Problem(
      { code: "NETWORK", message: `The server answered with status ${status}.`, suggestion: "Try again." },
      status,
    );
  }
  return new Problem({
    code: "NETWORK",
    message: "The connection to the server was lost.",
    suggestion: "The answer may be under way all the same. Check that the server is running, then try again.",
  });
}

function parsed(text: unknown): { error?: unknown } | null {
  try {
    return JSON.parse(String(text)) as { error?: unknown };
  } catch {
    // Not every proxy answers in JSON; the status then says what is known.
    return null;
  }
}
