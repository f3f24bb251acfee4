import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { Link } from "react-router";
import { boardKeys, boardsQuery, keepQuestion } from "~/api/boards";
import { runQuery } from "~/api/queries";
import { places } from "~/shell";
import { Button, Dialog, ErrorNote, Field, Select } from "~/ui";
import { onBoard, onNewBoard, sizeFor } from "./put_on_board";

const NO_BOARD = "";
const NEW_BOARD = "new";
const LONGEST = 120;

interface KeepDialogProps {
  runId: string;
  name: string;
  onClose: () => void;
}

export default function KeepDialog({ runId, name: proposed, onClose }: KeepDialogProps) {
  const client = useQueryClient();
  const boards = useQuery(boardsQuery());
  const [name, setName] = useState(proposed.slice(0, LONGEST));
  const [chosen, setChosen] = useState<string | null>(null);
  const [newName, setNewName] = useState("");
  const boardLabel = useId();
  const changeable = (boards.data ?? []).filter((board) => board.right !== "see");
  // The board that was changed last is the likeliest.
  const target = chosen ?? changeable[0]?.id ?? NEW_BOARD;
  const [made, setMade] = useState<Awaited<ReturnType<typeof keepQuestion>> | null>(null);
  const keep = useMutation({
    mutationFn: async () => {
      // What was kept before the board failed is not kept twice.
      const question = made ?? (await keepQuestion(runId, name.trim()));
      setMade(question);
      if (target === NO_BOARD) return null;
      const size = sizeFor(await client.fetchQuery(runQuery(runId)));
      return target === NEW_BOARD
        ? onNewBoard(question, newName.trim(), size)
        : onBoard(question, target, size);
    },
    onSettled: () =>
      Promise.all(
        [boardKeys.boards, boardKeys.questions].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
  const complete = name.trim() !== "" && (target !== NEW_BOARD || newName.trim() !== "");
  const sent = (event: FormEvent) => {
    event.preventDefault();
    if (complete) keep.mutate();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title="Keep this answer"
      description="The question, how it was read, and this result with its proof. It can be run again at any time."
    >
      {keep.isSuccess ? (
        <div className="space-y-4">
          <p role="status">
            {keep.data ? (
              <>
                Kept on{" "}
                <Link to={places.board(keep.data.id)} className="text-accent underline">
                  {keep.data.name}
                </Link>
                .
              </>
            ) : (
              <>
                Kept. It is among{" "}
                <Link to={places.boards} className="text-accent underline">
                  your kept questions
                </Link>
                .
              </>
            )}
          </p>
          <Button onClick={onClose}>Close</Button>
        </div>
      ) : (
        <form onSubmit={sent} className="space-y-4">
          <Field
            label="Name"
            value={name}
            required
            maxLength={LONGEST}
            disabled={made !== null}
            onChange={(event) => setName(event.target.value)}
          />
          <div className="space-y-1">
            <span id={boardLabel} className="block text-ink-2">
              Board
            </span>
            <Select
              label="Board"
              aria-labelledby={boardLabel}
              className="w-full"
              value={target}
              onChange={(event) => setChosen(event.target.value)}
            >
              {changeable.map((board) => (
                <option key={board.id} value={board.id}>
                  {board.name}
                </option>
              ))}
              <option value={NEW_BOARD}>A new board…</option>
              <option value={NO_BOARD}>No board</option>
            </Select>
          </div>
          {target === NEW_BOARD && (
            <Field
              label="Name of the new board"
              value={newName}
              required
              maxLength={LONGEST}
              onChange={(event) => setNewName(event.target.value)}
            />
          )}
          {(keep.error ?? boards.error) && <ErrorNote error={keep.error ?? boards.error} />}
          <Button type="submit" kind="primary" disabled={!complete || keep.isPending}>
            {keep.isPending ? "Keeping" : "Keep"}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
