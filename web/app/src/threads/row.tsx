import { Ellipsis, Pencil, Trash2, UserPlus, Users } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { Link } from "react-router";
import { type Thread, titleOf } from "~/api/threads";
import { time } from "~/format";
import { ShareDialog } from "~/sharing/share_dialog";
import { useWhose } from "~/sharing/use_sharing";
import { places } from "~/shell";
import { classes, IconButton, Input, Menu, MenuItem } from "~/ui";
import { useRename } from "./use_threads";

interface ThreadRowProps {
  thread: Thread;
  current: boolean;
  onGo?: (() => void) | undefined;
  onDelete: () => void;
}

const MARKS: Partial<Record<Thread["status"], { dot: string; word: string }>> = {
  busy: { dot: "rounded-full bg-accent animate-breathe", word: "is being answered" },
  interrupted: { dot: "rounded-full border border-warning", word: "waits for your decision" },
};

/** One conversation. F2 renames it and Delete deletes it, while it has the focus. */
export function ThreadRow({ thread, current, onGo, onDelete }: ThreadRowProps) {
  const [renaming, setRenaming] = useState(false);
  const [sharing, setSharing] = useState(false);
  const { people, mine, sharedBy } = useWhose()(thread.owner);
  const link = useRef<HTMLAnchorElement>(null);
  const title = titleOf(thread);
  const mark = MARKS[thread.status];
  if (renaming) {
    const done = () => {
      setRenaming(false);
      // After the field is gone: the focus would be lost with it.
      setTimeout(() => link.current?.focus(), 0);
    };
    return <RenameRow thread={thread} title={title} onDone={done} />;
  }
  const pressed = (event: KeyboardEvent) => {
    if (!mine) return;
    if (event.key === "F2") setRenaming(true);
    else if (event.key === "Delete") onDelete();
    else return;
    event.preventDefault();
  };
  return (
    <li
      className={classes(
        "group/row flex items-center rounded-md transition-colors focus-within:bg-hover hover:bg-hover",
        current && "bg-hover",
      )}
    >
      <Link
        ref={link}
        to={places.thread(thread.thread_id)}
        aria-current={current ? "page" : undefined}
        title={`${title}\n${time(thread.updated_at).text}`}
        onClick={onGo}
        onKeyDown={pressed}
        className={classes(
          "flex h-8 min-w-0 flex-1 items-center gap-2 rounded-md pl-2 text-ink-2",
          current && "font-medium text-ink",
        )}
      >
        {mark && <span aria-hidden className={classes("size-2 shrink-0", mark.dot)} />}
        <span className="truncate">{title}</span>
        {mark && <span className="sr-only">, {mark.word}</span>}
        {sharedBy && (
          <span title={`Shared by ${sharedBy}`} className="mr-2 ml-auto shrink-0 text-ink-3">
            <Users aria-hidden className="size-3.5" />
            <span className="sr-only">, shared by {sharedBy}</span>
          </span>
        )}
      </Link>
      {mine && (
        <Menu
          align="end"
          trigger={
            <IconButton
              label={`Actions for ${title}`}
              size="smallIcon"
              className="opacity-0 focus-visible:opacity-100 group-focus-within/row:opacity-100 group-hover/row:opacity-100 aria-expanded:opacity-100 pointer-coarse:opacity-100"
            >
              <Ellipsis />
            </IconButton>
          }
        >
          {people && (
            <MenuItem onSelect={() => setTimeout(() => setSharing(true), 0)}>
              <UserPlus aria-hidden />
              Share
            </MenuItem>
          )}
          <MenuItem onSelect={() => setTimeout(() => setRenaming(true), 0)}>
            <Pencil aria-hidden />
            Rename
          </MenuItem>
          <MenuItem danger onSelect={onDelete}>
            <Trash2 aria-hidden />
            Delete
          </MenuItem>
        </Menu>
      )}
      {people && mine && (
        <ShareDialog
          kind="thread"
          id={thread.thread_id}
          title={title}
          open={sharing}
          onOpenChange={setSharing}
        />
      )}
    </li>
  );
}

function RenameRow({ thread, title, onDone }: { thread: Thread; title: string; onDone: () => void }) {
  const [text, setText] = useState(title);
  const rename = useRename();
  const ended = useRef(false);
  const end = (keep: boolean) => {
    if (ended.current) return;
    ended.current = true;
    const next = text.trim();
    if (keep && next && next !== title) rename.mutate({ threadId: thread.thread_id, title: next });
    onDone();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") end(true);
    if (event.key === "Escape") {
      event.stopPropagation();
      end(false);
    }
  };
  return (
    <li className="px-1 py-px">
      <Input
        label={`New name of ${title}`}
        autoFocus
        value={text}
        maxLength={200}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={pressed}
        onBlur={() => end(true)}
        className="h-7 w-full"
      />
    </li>
  );
}
