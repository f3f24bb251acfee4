// A tile: its name or text, what it shows, and in editing the handles by which it is moved and sized.
import { useMutation } from "@tanstack/react-query";
import { GripVertical, MoveDiagonal2, X } from "lucide-react";
import { type CSSProperties, useEffect, useRef } from "react";
import { Link } from "react-router";
import { runTile } from "~/api/boards";
import type { Board, BoardTile, TileResult } from "~/api/model";
import { places } from "~/shell";
import { classes, ErrorNote, IconButton, Markdown, Select, SkeletonLines, TextArea } from "~/ui";
import { TileBody, TileFoot } from "./tile_result";
import type { Handles } from "./use_handles";

interface TileCardProps {
  board: Board;
  tile: BoardTile;
  result: TileResult | undefined;
  loading: boolean;
  /** Present while the board is being edited. */
  editing: Editing | null;
  /** Counts up when all tiles are to run. */
  wave: number;
  onResult: (result: TileResult) => void;
  style: CSSProperties;
}

export interface Editing {
  /** Null where tiles stand below each other: their places are those of a wider window. */
  handles: Handles | null;
  held: string | null;
  change: (tile: BoardTile) => void;
  remove: (id: string) => void;
}

export function TileCard(props: TileCardProps) {
  const { board, tile, editing, style } = props;
  const question = tile.question_id ? board.questions[tile.question_id] : undefined;
  const name = tile.question_id ? (question?.name ?? "Question") : textName(tile.text ?? "");
  return (
    <section
      aria-label={name}
      data-tile={tile.id}
      style={style}
      className={classes(
        "relative flex min-w-0 flex-col gap-2 overflow-hidden rounded-md bg-page p-3 print:break-inside-avoid",
        tile.question_id || editing ? "border" : "border border-transparent",
        editing?.held === tile.id && "z-10 border-accent",
      )}
    >
      {(tile.question_id || editing) && (
        <header className="flex min-h-7 items-center gap-1">
          {editing?.handles && (
            <IconButton
              label={`Move ${name}`}
              size="smallIcon"
              className="cursor-grab touch-none"
              aria-describedby="board-keys"
              {...editing.handles.move(tile)}
            >
              <GripVertical />
            </IconButton>
          )}
          <h2 className="min-w-0 flex-1 truncate font-medium" title={name}>
            {question && !editing ? (
              <Link
                to={places.run(props.result?.run?.run_id ?? question.latest_run)}
                className="underline-offset-2 hover:underline"
              >
                {name}
              </Link>
            ) : (
              name
            )}
          </h2>
          {editing && tile.question_id && (
            <Select
              label={`What ${name} shows`}
              value={tile.show}
              className="h-7! text-small"
              onChange={(event) => editing.change({ ...tile, show: event.target.value as BoardTile["show"] })}
            >
              <option value="all">All</option>
              <option value="sentence">Sentence</option>
              <option value="chart">Chart</option>
              <option value="table">Table</option>
            </Select>
          )}
          {editing && (
            <IconButton label={`Take ${name} off`} size="smallIcon" onClick={() => editing.remove(tile.id)}>
              <X />
            </IconButton>
          )}
        </header>
      )}
      {tile.question_id ? <Shown {...props} /> : <Text {...props} />}
      {editing?.handles && (
        <IconButton
          label={`Size of ${name}`}
          size="smallIcon"
          className="absolute right-0 bottom-0 cursor-nwse-resize touch-none"
          aria-describedby="board-keys"
          {...editing.handles.size(tile)}
        >
          <MoveDiagonal2 />
        </IconButton>
      )}
    </section>
  );
}

function Text({ tile, editing }: TileCardProps) {
  if (!editing)
    return (
      <div className="min-h-0 flex-1 overflow-auto print:overflow-visible">
        <Markdown text={tile.text ?? ""} />
      </div>
    );
  return (
    <TextArea
      label="Text"
      value={tile.text ?? ""}
      maxLength={4000}
      placeholder="Markdown: # heading, **bold**, - list"
      className="mb-5 min-h-0 w-full flex-1 resize-none"
      onChange={(event) => editing.change({ ...tile, text: event.target.value })}
    />
  );
}

function Shown({ board, tile, result, loading, wave, onResult, editing }: TileCardProps) {
  const run = useMutation({
    mutationFn: (cache: boolean) => runTile(board.id, tile.id, cache),
    onSuccess: onResult,
  });
  const ran = useRef(0);
  const { mutate } = run;
  useEffect(() => {
    if (wave <= ran.current) return;
    ran.current = wave;
    mutate(true);
  }, [wave, mutate]);
  if (!result)
    return loading ? (
      <SkeletonLines lines={3} label="Loading the tile" />
    ) : (
      <p className="text-ink-2">It shows its answer when the board is saved.</p>
    );
  if (result.missing === "question")
    return <p className="text-ink-2">This question was deleted, or is not shared with you.</p>;
  return (
    <>
      {run.error && <ErrorNote error={run.error} />}
      {result.missing === "run" && !run.isPending && (
        <p className="text-ink-2">Its result is not there any more. Run it again.</p>
      )}
      {result.missing === "filters" && !run.isPending && (
        <p className="text-ink-2">It was not run with these filters yet.</p>
      )}
      {run.isPending && !result.run && <SkeletonLines lines={3} label="Running" />}
      <div className={classes("flex min-h-0 flex-1 flex-col", run.isPending && "opacity-60")}>
        <TileBody result={result} show={tile.show} />
      </div>
      {!editing && <TileFoot result={result} running={run.isPending} onRun={() => mutate(false)} />}
    </>
  );
}

const textName = (text: string) =>
  text
    .split("\n")[0]
    ?.replace(/^#+\s*/, "")
    .slice(0, 60) || "Text";
