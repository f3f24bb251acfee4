import { LayoutDashboard } from "lucide-react";
import { useRef } from "react";
import { Link } from "react-router";
import type { Board, BoardTile, TileResult } from "~/api/model";
import { byPlace, moved, settled } from "~/keeping/layout";
import { places, useWide } from "~/shell";
import { Empty } from "~/ui";
import { TileCard } from "./tile_card";
import type { BoardDraft } from "./use_board_draft";
import { GAP_PX, ROW_PX, useHandles } from "./use_handles";

/** Narrower, tiles stand below each other. */
const GRID_FITS = 900;

interface BoardGridProps {
  board: Board;
  tiles: readonly BoardTile[];
  results: readonly TileResult[] | undefined;
  loading: boolean;
  /** While the board is edited. */
  draft: BoardDraft | null;
  wave: number;
  onResult: (result: TileResult) => void;
}

export function BoardGrid({ board, tiles, results, loading, draft, wave, onResult }: BoardGridProps) {
  const wide = useWide(GRID_FITS);
  const grid = useRef<HTMLDivElement>(null);
  const { handles, held, said } = useHandles(grid, (id, to) => draft?.arrange(moved(tiles, id, to)));
  const editing = draft && {
    handles: wide ? handles : null,
    held,
    change: (tile: BoardTile) => draft.arrange(tiles.map((one) => (one.id === tile.id ? tile : one))),
    remove: (id: string) => draft.arrange(settled(tiles.filter((one) => one.id !== id))),
  };
  if (tiles.length === 0) return <NoTiles changeable={board.right !== "see"} />;
  return (
    <>
      <p id="board-keys" className="sr-only">
        Drag it, or use the arrow keys. With Shift, the arrow keys change the size.
      </p>
      <p aria-live="polite" className="sr-only">
        {said}
      </p>
      {draft && !wide && <p className="mb-2 text-ink-3">Tiles are moved and sized in a wider window.</p>}
      <div
        ref={grid}
        className={wide ? "grid grid-cols-12 print:block" : "flex flex-col"}
        style={{ gap: GAP_PX, ...(wide ? { gridAutoRows: ROW_PX } : {}) }}
      >
        {byPlace(tiles).map((tile) => (
          <TileCard
            key={tile.id}
            board={board}
            tile={tile}
            result={results?.find((one) => one.tile_id === tile.id)}
            loading={loading}
            editing={editing}
            wave={wave}
            onResult={onResult}
            style={wide ? placed(tile) : { minHeight: least(tile) }}
          />
        ))}
      </div>
    </>
  );
}

const placed = ({ x, y, w, h }: BoardTile) => ({
  gridColumn: `${x + 1} / span ${w}`,
  gridRow: `${y + 1} / span ${h}`,
});

/** A tile with a chart or rows keeps its height where tiles stand below each other. */
const least = (tile: BoardTile) => (tile.question_id ? Math.min(tile.h, 6) * (ROW_PX + GAP_PX) - GAP_PX : 0);

function NoTiles({ changeable }: { changeable: boolean }) {
  return (
    <Empty title="This board is empty" icon={<LayoutDashboard aria-hidden />}>
      <p>
        {changeable
          ? "Ask a question and choose Keep below its answer, or choose Edit to put kept questions and texts here."
          : "Its owner has put nothing on it yet."}
      </p>
      {changeable && (
        <Link to={places.ask} className="text-accent underline">
          Ask a question
        </Link>
      )}
    </Empty>
  );
}
