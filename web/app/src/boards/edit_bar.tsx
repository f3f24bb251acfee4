import { useQuery } from "@tanstack/react-query";
import { Plus, Type } from "lucide-react";
import { questionsQuery } from "~/api/boards";
import { Problem } from "~/api/problem";
import { freePlace, newTileId } from "~/keeping/layout";
import { tileOf } from "~/keeping/put_on_board";
import { Button, ErrorNote, Menu, MenuItem } from "~/ui";
import type { BoardDraft } from "./use_board_draft";

/** While a board is edited: what can be added, and how the changes end. */
export function EditBar({ draft }: { draft: BoardDraft }) {
  const kept = useQuery(questionsQuery());
  const addText = () =>
    draft.arrange([
      ...draft.tiles,
      { id: newTileId(), question_id: null, text: "", show: "all", ...freePlace(draft.tiles, 12, 2) },
    ]);
  const changed = draft.error instanceof Problem && draft.error.status === 409;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <Menu
          className="max-w-80"
          trigger={
            <Button>
              <Plus aria-hidden />
              Kept question
            </Button>
          }
        >
          {(kept.data ?? []).map((question) => (
            <MenuItem
              key={question.id}
              onSelect={() => draft.arrange([...draft.tiles, tileOf(question.id, draft.tiles)])}
            >
              <span className="truncate">{question.name}</span>
            </MenuItem>
          ))}
          {kept.data?.length === 0 && <p className="px-2 py-1.5 text-ink-3">No question is kept yet.</p>}
        </Menu>
        <Button onClick={addText}>
          <Type aria-hidden />
          Text
        </Button>
        <div className="ml-auto flex gap-2">
          <Button onClick={draft.cancel}>Cancel</Button>
          <Button kind="primary" disabled={draft.saving} onClick={draft.save}>
            {draft.saving ? "Saving" : "Save"}
          </Button>
        </div>
      </div>
      {draft.error ? (
        <ErrorNote error={draft.error}>
          {changed && (
            <Button size="small" onClick={draft.takeTheirs}>
              Show the changed board, without my changes
            </Button>
          )}
        </ErrorNote>
      ) : null}
    </div>
  );
}
