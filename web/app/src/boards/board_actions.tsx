import { useMutation, useQueryClient } from "@tanstack/react-query";
import { MoreHorizontal, Pencil, Presentation, Printer, RotateCw, Trash2, UserPlus } from "lucide-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { boardKeys, changeBoard, deleteBoard } from "~/api/boards";
import type { Board } from "~/api/model";
import { useCommandList } from "~/commands";
import { ShareDialog } from "~/sharing/share_dialog";
import { SharedMark } from "~/sharing/shared_mark";
import { useWhose } from "~/sharing/use_sharing";
import { forceTheme, places } from "~/shell";
import { Button, Dialog, ErrorNote, IconButton, Menu, MenuItem, MenuLine } from "~/ui";
import { NameForm } from "./name_form";

interface BoardActionsProps {
  board: Board;
  editing: boolean;
  /** Null for those who may only look. */
  onEdit: (() => void) | null;
  onPresent: () => void;
  onRunAll: () => void;
}

type Act = "rename" | "share" | "delete";
/** Charts are drawn again in the colours of paper. */
const REDRAWN_MS = 400;

/** Paper is light, whatever the screen is. */
function print(): void {
  forceTheme("light");
  setTimeout(() => {
    window.print();
    forceTheme(null);
  }, REDRAWN_MS);
}

export function BoardActions({ board, editing, onEdit, onPresent, onRunAll }: BoardActionsProps) {
  const [act, setAct] = useState<Act | null>(null);
  const { people, mine, sharedBy } = useWhose()(board.owner);
  const later = (next: Act) => setTimeout(() => setAct(next), 0);
  useCommandList([
    { id: "board.present", title: "Present this board", run: onPresent },
    { id: "board.print", title: "Print this board", run: print },
    { id: "board.run", title: "Run all tiles again", run: onRunAll },
    ...(onEdit && !editing ? [{ id: "board.edit", title: "Edit this board", run: onEdit }] : []),
  ]);
  if (editing) return null;
  return (
    <>
      {sharedBy && <SharedMark by={sharedBy} className="hidden sm:inline-flex" />}
      {onEdit && (
        <Button kind="quiet" aria-label="Edit" onClick={onEdit}>
          <Pencil aria-hidden />
          <span className="hidden sm:inline">Edit</span>
        </Button>
      )}
      <Button kind="quiet" aria-label="Present" onClick={onPresent}>
        <Presentation aria-hidden />
        <span className="hidden sm:inline">Present</span>
      </Button>
      <Menu
        align="end"
        trigger={
          <IconButton label="More about this board">
            <MoreHorizontal />
          </IconButton>
        }
      >
        <MenuItem onSelect={onRunAll}>
          <RotateCw aria-hidden /> Run all again
        </MenuItem>
        <MenuItem onSelect={() => setTimeout(print, 0)}>
          <Printer aria-hidden /> Print, or save as PDF
        </MenuItem>
        {people && mine && (
          <MenuItem onSelect={() => later("share")}>
            <UserPlus aria-hidden /> Share
          </MenuItem>
        )}
        {onEdit && (
          <MenuItem onSelect={() => later("rename")}>
            <Pencil aria-hidden /> Rename
          </MenuItem>
        )}
        {mine && (
          <>
            <MenuLine />
            <MenuItem danger onSelect={() => later("delete")}>
              <Trash2 aria-hidden /> Delete
            </MenuItem>
          </>
        )}
      </Menu>
      <Acts board={board} act={act} onEnd={() => setAct(null)} />
    </>
  );
}

function Acts({ board, act, onEnd }: { board: Board; act: Act | null; onEnd: () => void }) {
  const client = useQueryClient();
  const go = useNavigate();
  const lists = () => client.invalidateQueries({ queryKey: boardKeys.boards, exact: true });
  const rename = useMutation({
    mutationFn: (name: string) => changeBoard(board.id, board.edition, { ...board, name }),
    onSuccess: (made) => {
      client.setQueryData(boardKeys.board(board.id), made);
      onEnd();
      return lists();
    },
  });
  const remove = useMutation({
    mutationFn: () => deleteBoard(board.id),
    onSuccess: () => {
      go(places.boards);
      return lists();
    },
  });
  const shown = (one: Act) => ({ open: act === one, onOpenChange: (open: boolean) => open || onEnd() });
  return (
    <>
      <Dialog {...shown("rename")} title="Rename the board">
        <NameForm
          label="Name"
          action="Rename"
          name={board.name}
          pending={rename.isPending}
          error={rename.error}
          onName={(name) => rename.mutate(name)}
        />
      </Dialog>
      <Dialog
        {...shown("delete")}
        title={`Delete ${board.name}?`}
        description="The questions on it stay kept. Its texts are gone."
      >
        <div className="space-y-3">
          {remove.error && <ErrorNote error={remove.error} />}
          <div className="flex gap-2">
            <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Delete it
            </Button>
            <Button onClick={onEnd}>Leave it</Button>
          </div>
        </div>
      </Dialog>
      <ShareDialog {...shown("share")} kind="board" id={board.id} title={board.name} />
    </>
  );
}
