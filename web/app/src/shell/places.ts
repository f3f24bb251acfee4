// The addresses of the app, in one place.
import { useMatch } from "react-router";

export const places = {
  ask: "/",
  thread: (threadId: string) => `/t/${encodeURIComponent(threadId)}`,
  data: "/data",
  dataset: (datasetId: string) => `/data/${encodeURIComponent(datasetId)}`,
  boards: "/boards",
  board: (boardId: string) => `/boards/${encodeURIComponent(boardId)}`,
  runs: "/runs",
  run: (runId: string) => `/runs/${encodeURIComponent(runId)}`,
  pickToCompare: "/compare",
  account: "/account",
  people: "/people",
  compare: (a: string, b: string) => `/compare?${new URLSearchParams({ a, b })}`,
};

/** The thread that is open; nothing on the page of a new question. */
export function useThreadId(): string | null {
  return useMatch("/t/:threadId")?.params.threadId ?? null;
}
