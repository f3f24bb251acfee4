// A kept question on a board: an existing one, or a new one.
import { changeBoard, createBoard, getBoard } from "~/api/boards";
import type { Board, BoardTile, KeptQuestion, RunView } from "~/api/model";
import { Problem } from "~/api/problem";
import { freePlace, newTileId } from "./layout";

export interface Size {
  w: number;
  h: number;
}

const USUAL: Size = { w: 6, h: 5 };
/** Of a tile with a single number. */
const SMALL: Size = { w: 3, h: 3 };
const TRIES = 3;

export const sizeFor = (run: RunView): Size =>
  run.columns.length === 1 && run.row_count === 1 ? SMALL : USUAL;

export const tileOf = (questionId: string, tiles: readonly BoardTile[], size = USUAL): BoardTile => ({
  id: newTileId(),
  question_id: questionId,
  text: null,
  show: "all",
  ...freePlace(tiles, size.w, size.h),
});

export const onNewBoard = (question: KeptQuestion, name: string, size: Size): Promise<Board> =>
  createBoard({ name, tiles: [tileOf(question.id, [], size)] });

/** A tile that is added contradicts nothing that others change meanwhile: it is tried again on their edition. */
export async function onBoard(question: KeptQuestion, boardId: string, size: Size): Promise<Board> {
  for (let left = TRIES; ; left--) {
    const board = await getBoard(boardId);
    try {
      return await changeBoard(boardId, board.edition, {
        ...board,
        tiles: [...board.tiles, tileOf(question.id, board.tiles, size)],
      });
    } catch (thrown) {
      if (left <= 1 || !(thrown instanceof Problem) || thrown.status !== 409) throw thrown;
    }
  }
}
