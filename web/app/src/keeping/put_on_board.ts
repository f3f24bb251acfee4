// A kept question on a board: an existing one, or a new one.
import { changeBoard, createBoard, getBoard } from "~/api/boards";
import type { Board, BoardTile, KeptQuestion } from "~/api/model";
import { Problem } from "~/api/problem";
import { freePlace, newTileId } from "./layout";

const WIDTH = 6;
const HEIGHT = 5;
const TRIES = 3;

export const tileOf = (questionId: string, tiles: readonly BoardTile[]): BoardTile => ({
  id: newTileId(),
  question_id: questionId,
  text: null,
  show: "all",
  ...freePlace(tiles, WIDTH, HEIGHT),
});

export const onNewBoard = (question: KeptQuestion, name: string): Promise<Board> =>
  createBoard({ name, tiles: [tileOf(question.id, [])] });

/** A tile that is added contradicts nothing that others change meanwhile: it is tried again on their edition. */
export async function onBoard(question: KeptQuestion, boardId: string): Promise<Board> {
  for (let left = TRIES; ; left--) {
    const board = await getBoard(boardId);
    try {
      return await changeBoard(boardId, board.edition, {
        ...board,
        tiles: [...board.tiles, tileOf(question.id, board.tiles)],
      });
    } catch (thrown) {
      if (left <= 1 || !(thrown instanceof Problem) || thrown.status !== 409) throw thrown;
    }
  }
}
