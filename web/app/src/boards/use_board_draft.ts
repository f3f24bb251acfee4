// A board while it is edited: tiles as they are to be, saved as one change from the edition that they were read from.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { boardKeys, changeBoard, getBoard } from "~/api/boards";
import type { Board, BoardTile } from "~/api/model";

export interface BoardDraft {
  editing: boolean;
  tiles: readonly BoardTile[];
  begin: () => void;
  arrange: (tiles: readonly BoardTile[]) => void;
  save: () => void;
  cancel: () => void;
  /** Gives the changes up, for those that somebody else made. */
  takeTheirs: () => void;
  saving: boolean;
  error: unknown;
}

interface Draft {
  before: Board;
  tiles: readonly BoardTile[];
}

export function useBoardDraft(board: Board): BoardDraft {
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft | null>(null);
  const shown = (made: Board) => {
    client.setQueryData(boardKeys.board(board.id), made);
    setDraft(null);
    return Promise.all([
      client.invalidateQueries({ queryKey: boardKeys.results(board.id) }),
      client.invalidateQueries({ queryKey: boardKeys.boards, exact: true }),
    ]);
  };
  const save = useMutation({
    mutationFn: ({ before, tiles }: Draft) =>
      changeBoard(board.id, before.edition, { name: before.name, filters: before.filters, tiles }),
    onSuccess: shown,
  });
  const theirs = useMutation({ mutationFn: () => getBoard(board.id), onSuccess: shown });
  return {
    editing: draft !== null,
    tiles: draft?.tiles ?? board.tiles,
    begin: () => {
      save.reset();
      setDraft({ before: board, tiles: board.tiles });
    },
    arrange: (tiles) => setDraft((now) => now && { ...now, tiles }),
    save: () => draft && save.mutate(draft),
    cancel: () => setDraft(null),
    takeTheirs: () => {
      save.reset();
      theirs.mutate();
    },
    saving: save.isPending,
    error: save.error ?? theirs.error,
  };
}
