import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import { useParams } from "react-router";
import { boardKeys, boardQuery, boardResultsQuery } from "~/api/boards";
import type { Board, BoardResults, TileResult } from "~/api/model";
import { loadPlotly } from "~/chart/load";
import { Page, useDetails } from "~/shell";
import { Button, ErrorNote, SkeletonLines } from "~/ui";
import { BoardActions } from "./board_actions";
import { BoardGrid } from "./board_grid";
import { EditBar } from "./edit_bar";
import { FilterBar } from "./filter_bar";
import { Presenting } from "./presenting";
import { useBoardDraft } from "./use_board_draft";

export default function BoardPage() {
  const { boardId = "" } = useParams();
  const board = useQuery({ ...boardQuery(boardId), refetchOnMount: "always" });
  // Asked for beside the board, not after it: they come together.
  useQuery({ ...boardResultsQuery(boardId), refetchOnMount: "always" });
  useEffect(() => {
    // A chart that needs it says what went wrong.
    loadPlotly().catch(() => undefined);
  }, []);
  if (board.data) return <Loaded key={boardId} board={board.data} />;
  return (
    <Page title="Board">
      <div className="p-4 md:p-6">
        {board.isPending && <SkeletonLines lines={8} label="Loading the board" />}
        {board.error && <ErrorNote error={board.error} onRetry={() => board.refetch()} />}
      </div>
    </Page>
  );
}

function Loaded({ board }: { board: Board }) {
  const client = useQueryClient();
  const results = useQuery(boardResultsQuery(board.id));
  const draft = useBoardDraft(board);
  const [presenting, setPresenting] = useState(false);
  const details = useDetails();
  // Details stand beside the page: a click on a proof ends the presentation.
  useEffect(() => {
    if (details.runId !== null) setPresenting(false);
  }, [details.runId]);
  const [wave, setWave] = useState(0);
  const onResult = useCallback(
    (result: TileResult) =>
      client.setQueryData(boardKeys.results(board.id), (before: BoardResults | undefined) => ({
        results: [...(before?.results ?? []).filter((one) => one.tile_id !== result.tile_id), result],
      })),
    [client, board.id],
  );
  const runAll = () => setWave((before) => before + 1);
  const changeable = board.right !== "see";
  const newer = results.data?.results.filter((one) => one.newer_data).length ?? 0;
  const grid = (
    <BoardGrid
      board={board}
      tiles={draft.tiles}
      results={results.data?.results}
      loading={results.isPending}
      draft={draft.editing ? draft : null}
      wave={wave}
      onResult={onResult}
    />
  );
  return (
    <Page
      title={board.name}
      actions={
        <BoardActions
          board={board}
          editing={draft.editing}
          onEdit={changeable ? draft.begin : null}
          onPresent={() => {
            details.close();
            setPresenting(true);
          }}
          onRunAll={runAll}
        />
      }
    >
      <div className="space-y-3 p-4 md:p-6 print:p-0">
        {draft.editing ? (
          <EditBar draft={draft} />
        ) : (
          <FilterBar board={board} changeable={changeable} onFiltered={runAll} />
        )}
        {newer > 0 && !draft.editing && (
          <p role="status" className="flex flex-wrap items-center gap-3 text-ink-2 print:hidden">
            {newer === 1 ? "One tile has newer data." : `${newer} tiles have newer data.`}
            <Button size="small" onClick={runAll}>
              Run all again
            </Button>
          </p>
        )}
        {results.error && <ErrorNote error={results.error} onRetry={() => results.refetch()} />}
        {!presenting && grid}
      </div>
      {presenting && (
        <Presenting name={board.name} onEnd={() => setPresenting(false)}>
          {grid}
        </Presenting>
      )}
    </Page>
  );
}
