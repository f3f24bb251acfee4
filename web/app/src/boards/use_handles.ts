// The handles of tiles: dragged with a pointer, or moved with the arrow keys. Both do the same in whole grid steps.
import { type KeyboardEvent, type PointerEvent, type RefObject, useRef, useState } from "react";
import type { BoardTile } from "~/api/model";
import { bounded, COLUMNS, type Place } from "~/keeping/layout";

export const ROW_PX = 64;
export const GAP_PX = 12;

interface HandleProps {
  onPointerDown: (event: PointerEvent<HTMLElement>) => void;
  onPointerMove: (event: PointerEvent<HTMLElement>) => void;
  onPointerUp: (event: PointerEvent<HTMLElement>) => void;
  onPointerCancel: (event: PointerEvent<HTMLElement>) => void;
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

export interface Handles {
  move: (tile: BoardTile) => HandleProps;
  size: (tile: BoardTile) => HandleProps;
}

interface Drag {
  from: Place;
  x: number;
  y: number;
  sizes: boolean;
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** `place` is called with every new place; `grid` is the element whose columns count. */
export function useHandles(
  grid: RefObject<HTMLElement | null>,
  place: (id: string, to: Place) => void,
): { handles: Handles; held: string | null; said: string } {
  const drag = useRef<Drag | null>(null);
  const [held, setHeld] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const put = (id: string, from: Place, [across, down]: readonly [number, number], sizes: boolean) => {
    const wanted = sizes
      ? { ...from, w: Math.min(from.w + across, COLUMNS - from.x), h: from.h + down }
      : { ...from, x: from.x + across, y: from.y + down };
    const to = bounded(wanted);
    place(id, to);
    setSaid(`Column ${to.x + 1}, row ${to.y + 1}, ${to.w} wide, ${to.h} high`);
  };
  const handle = (tile: BoardTile, sizes: boolean): HandleProps => {
    const end = () => {
      drag.current = null;
      setHeld(null);
    };
    return {
      onPointerDown: (event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { from: tile, x: event.clientX, y: event.clientY, sizes };
        setHeld(tile.id);
      },
      onPointerMove: (event) => {
        const now = drag.current;
        const width = grid.current?.clientWidth;
        if (!now || !width) return;
        const column = (width + GAP_PX) / COLUMNS;
        const steps = [
          Math.round((event.clientX - now.x) / column),
          Math.round((event.clientY - now.y) / (ROW_PX + GAP_PX)),
        ] as const;
        put(tile.id, now.from, steps, now.sizes);
      },
      onPointerUp: end,
      onPointerCancel: end,
      onKeyDown: (event) => {
        const step = STEPS[event.key];
        if (!step) return;
        event.preventDefault();
        put(tile.id, tile, step, sizes || event.shiftKey);
      },
    };
  };
  return {
    handles: { move: (tile) => handle(tile, false), size: (tile) => handle(tile, true) },
    held,
    said,
  };
}
