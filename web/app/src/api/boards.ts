// Kept questions and boards: what the server offers, and how long an answer stays good.
import { queryOptions } from "@tanstack/react-query";
import { at, request } from "./http";
import type {
  Board,
  BoardCondition,
  BoardResults,
  BoardSummary,
  BoardTile,
  ChartKind,
  KeptQuestion,
  TileResult,
} from "./model";

export const boardKeys = {
  questions: ["questions"] as const,
  boards: ["boards"] as const,
  board: (id: string) => ["boards", id] as const,
  results: (id: string) => ["boards", id, "results"] as const,
};

export const questionsQuery = () =>
  queryOptions({
    queryKey: boardKeys.questions,
    queryFn: ({ signal }) => request<KeptQuestion[]>("/questions", { signal }),
  });

export const boardsQuery = () =>
  queryOptions({
    queryKey: boardKeys.boards,
    queryFn: ({ signal }) => request<BoardSummary[]>("/boards", { signal }),
  });

export const boardQuery = (id: string) =>
  queryOptions({
    queryKey: boardKeys.board(id),
    queryFn: ({ signal }) => request<Board>(at("boards", id), { signal }),
  });

/** What the tiles show: stored runs, all in one answer. */
export const boardResultsQuery = (id: string) =>
  queryOptions({
    queryKey: boardKeys.results(id),
    queryFn: ({ signal }) => request<BoardResults>(at("boards", id, "results"), { signal }),
    staleTime: 5_000,
  });

export const keepQuestion = (runId: string, name: string) =>
  request<KeptQuestion>("/questions", { body: { run_id: runId, name } });

export const changeQuestion = (question: KeptQuestion, change: { name?: string; chart?: ChartKind | null }) =>
  request<KeptQuestion>(at("questions", question.id), {
    method: "PATCH",
    body: { before: question.edition, ...change },
  });

export const deleteQuestion = (id: string) => request<null>(at("questions", id), { method: "DELETE" });

export interface BoardContent {
  name: string;
  tiles: readonly BoardTile[];
  filters: readonly BoardCondition[];
}

export const createBoard = (content: Pick<BoardContent, "name"> & Partial<BoardContent>) =>
  request<Board>("/boards", { body: content });

export const getBoard = (id: string) => request<Board>(at("boards", id));

/** `before`: the edition that the change was made from. */
export const changeBoard = (id: string, before: number, { name, tiles, filters }: BoardContent) =>
  request<Board>(at("boards", id), { method: "PUT", body: { before, name, tiles, filters } });

export const deleteBoard = (id: string) => request<null>(at("boards", id), { method: "DELETE" });

/** `cache`: an earlier, identical run may answer. */
export const runTile = (boardId: string, tileId: string, cache: boolean) =>
  request<TileResult>(at("boards", boardId, "tiles", tileId, "run"), {
    body: { cache },
    query: { wait: 60 },
  });
