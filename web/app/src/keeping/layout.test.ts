import { expect, it } from "vitest";
import type { BoardTile } from "~/api/model";
import { bounded, byPlace, freePlace, moved, overlap, settled } from "./layout";

const tile = (id: string, x: number, y: number, w: number, h: number): BoardTile => ({
  id,
  text: id,
  question_id: null,
  show: "all",
  x,
  y,
  w,
  h,
});
const places = (tiles: readonly BoardTile[]) => tiles.map(({ id, x, y, w, h }) => [id, x, y, w, h]);
const BOARD = [tile("a", 0, 0, 6, 4), tile("b", 6, 0, 6, 4), tile("c", 0, 4, 12, 3)];

it("stays within the grid", () => {
  expect(bounded({ x: 11, y: -2, w: 4, h: 0 })).toEqual({ x: 8, y: 0, w: 4, h: 1 });
  expect(bounded({ x: -1, y: 3, w: 40, h: 90 })).toEqual({ x: 0, y: 3, w: 12, h: 24 });
});

it("pushes down what a moved tile would cover, and keeps the order", () => {
  expect(places(moved(BOARD, "a", { x: 6, y: 0, w: 6, h: 4 }))).toEqual([
    ["a", 6, 0, 6, 4],
    ["b", 6, 4, 6, 4],
    ["c", 0, 8, 12, 3],
  ]);
});

it("never makes tiles overlap, wherever one is moved", () => {
  for (let x = 0; x < 12; x++)
    for (let y = 0; y < 9; y++) {
      const made = moved(BOARD, "c", { x, y, w: 5, h: 5 });
      const covered = made.filter((one) => made.some((other) => one !== other && overlap(one, other)));
      expect(covered).toEqual([]);
    }
});

it("leaves no hole above a tile", () => {
  expect(places(settled(BOARD.slice(1)))).toEqual([
    ["b", 6, 0, 6, 4],
    ["c", 0, 4, 12, 3],
  ]);
  expect(places(settled([tile("c", 0, 4, 12, 3)]))).toEqual([["c", 0, 0, 12, 3]]);
});

it("finds room beside the last tile, else below all", () => {
  expect(freePlace([], 6, 4)).toEqual({ x: 0, y: 0, w: 6, h: 4 });
  expect(freePlace(BOARD.slice(0, 1), 6, 4)).toEqual({ x: 6, y: 0, w: 6, h: 4 });
  expect(freePlace(BOARD, 6, 4)).toEqual({ x: 0, y: 7, w: 6, h: 4 });
});

it("reads from top to bottom, then from left to right", () => {
  expect(byPlace([BOARD[2], BOARD[1], BOARD[0]].flatMap((one) => one ?? [])).map(({ id }) => id)).toEqual([
    "a",
    "b",
    "c",
  ]);
});
