// Where tiles stand on the grid. Pure: a tile that is moved pushes others down, and everything then moves up.
import type { BoardTile } from "~/api/model";

export const COLUMNS = 12;
const LEAST_WIDTH = 2;
const MOST_HEIGHT = 24;

export type Place = Pick<BoardTile, "x" | "y" | "w" | "h">;

/** Within the grid, whatever was asked for. */
export function bounded({ x, y, w, h }: Place): Place {
  const width = Math.min(COLUMNS, Math.max(LEAST_WIDTH, w));
  return {
    x: Math.min(COLUMNS - width, Math.max(0, x)),
    y: Math.max(0, y),
    w: width,
    h: Math.min(MOST_HEIGHT, Math.max(1, h)),
  };
}

export function overlap(a: Place, b: Place): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** The tiles with one of them at another place. Their order is kept: it is that of the keyboard. */
export function moved(tiles: readonly BoardTile[], id: string, to: Place): BoardTile[] {
  const held = tiles.find((tile) => tile.id === id);
  if (!held) return [...tiles];
  const first = { ...held, ...bounded(to) };
  const others = byPlace(tiles.filter((tile) => tile.id !== id));
  const placed: BoardTile[] = [first];
  for (const tile of others) placed.push(lowered(tile, placed));
  return inOrder(tiles, raised(placed));
}

/** Without holes above tiles: after one was taken away. */
export const settled = (tiles: readonly BoardTile[]): BoardTile[] => inOrder(tiles, raised(tiles));

/** Below everything, or beside the last tile where there is room. */
export function freePlace(tiles: readonly Place[], w: number, h: number): Place {
  const bottom = Math.max(0, ...tiles.map((tile) => tile.y + tile.h));
  for (let y = 0; y < bottom; y++)
    for (let x = 0; x + w <= COLUMNS; x += w) {
      const place = { x, y, w, h };
      if (!tiles.some((tile) => overlap(tile, place)) && below(tiles, place)) return place;
    }
  return { x: 0, y: bottom, w, h };
}

/** Whether nothing stands under it: a new tile does not slip between older ones. */
const below = (tiles: readonly Place[], place: Place) =>
  !tiles.some(
    (tile) => tile.y >= place.y + place.h && tile.x < place.x + place.w && place.x < tile.x + tile.w,
  );

/** From top to bottom, then from left to right: how a narrow window and a reader get them. */
export const byPlace = <T extends Place>(tiles: readonly T[]): T[] =>
  [...tiles].sort((a, b) => a.y - b.y || a.x - b.x);

function lowered(tile: BoardTile, placed: readonly Place[]): BoardTile {
  let lower = tile;
  while (placed.some((one) => overlap(one, lower))) lower = { ...lower, y: lower.y + 1 };
  return lower;
}

function raised(tiles: readonly BoardTile[]): BoardTile[] {
  const made: BoardTile[] = [];
  for (const tile of byPlace(tiles)) {
    let higher = tile;
    while (higher.y > 0 && !made.some((one) => overlap(one, { ...higher, y: higher.y - 1 })))
      higher = { ...higher, y: higher.y - 1 };
    made.push(higher);
  }
  return made;
}

const inOrder = (order: readonly BoardTile[], tiles: readonly BoardTile[]): BoardTile[] =>
  order.flatMap(({ id }) => tiles.filter((tile) => tile.id === id));

export const newTileId = (): string => `t${crypto.getRandomValues(new Uint32Array(2)).join("")}`;
