import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { LayoutDashboard, Plus } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { boardKeys, boardsQuery, createBoard, questionsQuery } from "~/api/boards";
import type { BoardSummary } from "~/api/model";
import { ago } from "~/format";
import { SharedMark } from "~/sharing/shared_mark";
import { useWhose } from "~/sharing/use_sharing";
import { Page, places } from "~/shell";
import { Button, Dialog, Empty, ErrorNote, SkeletonLines } from "~/ui";
import { KeptList } from "./kept_list";
import { NameForm } from "./name_form";

export default function BoardsPage() {
  const boards = useQuery({ ...boardsQuery(), refetchOnMount: "always" });
  const kept = useQuery({ ...questionsQuery(), refetchOnMount: "always" });
  const nothing = boards.data?.length === 0 && kept.data?.length === 0;
  return (
    <Page title="Boards" actions={<NewBoard />}>
      <div className="mx-auto max-w-4xl space-y-8 p-4 md:p-6">
        {(boards.isPending || kept.isPending) && <SkeletonLines lines={6} label="Loading boards" />}
        {boards.error && <ErrorNote error={boards.error} onRetry={() => boards.refetch()} />}
        {kept.error && <ErrorNote error={kept.error} onRetry={() => kept.refetch()} />}
        {nothing && <Nothing />}
        {boards.data && !nothing && <BoardList boards={boards.data} />}
        {kept.data && kept.data.length > 0 && <KeptList questions={kept.data} />}
      </div>
    </Page>
  );
}

function Nothing() {
  return (
    <Empty title="Nothing is kept yet" icon={<LayoutDashboard aria-hidden />}>
      <p>
        A board shows answers that you look at again and again, on one page. Ask a question, choose Keep below
        its answer, and give it a name and a board. Each tile keeps its proof, and says when the data are
        newer.
      </p>
      <Link to={places.ask} className="text-accent underline">
        Ask a question
      </Link>
    </Empty>
  );
}

function BoardList({ boards }: { boards: readonly BoardSummary[] }) {
  const whose = useWhose();
  if (boards.length === 0)
    return (
      <p className="text-ink-2">
        There is no board yet. Make one, and put the questions on it that are kept.
      </p>
    );
  return (
    <ul aria-label="Boards" className="grid gap-3 sm:grid-cols-2">
      {boards.map((board) => {
        const { sharedBy } = whose(board.owner);
        return (
          <li key={board.id}>
            <Link
              to={places.board(board.id)}
              className="block rounded-md border p-4 transition-colors hover:bg-hover"
            >
              <span className="block truncate font-medium text-title">{board.name}</span>
              <span className="mt-1 flex flex-wrap gap-x-3 text-ink-2 text-small">
                <span>{board.tiles === 1 ? "1 tile" : `${board.tiles} tiles`}</span>
                <span title={board.updated_at}>changed {ago(board.updated_at).text}</span>
                {sharedBy && <SharedMark by={sharedBy} />}
              </span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

function NewBoard() {
  const [open, setOpen] = useState(false);
  const go = useNavigate();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: (name: string) => createBoard({ name }),
    onSuccess: (board) => {
      client.setQueryData(boardKeys.board(board.id), board);
      go(places.board(board.id));
    },
  });
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Plus aria-hidden />
        New board
      </Button>
      <Dialog open={open} onOpenChange={setOpen} title="New board">
        <NameForm
          label="Name"
          action="Make the board"
          pending={create.isPending}
          error={create.error}
          onName={(name) => create.mutate(name)}
        />
      </Dialog>
    </>
  );
}
