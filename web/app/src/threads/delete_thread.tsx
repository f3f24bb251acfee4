import { useNavigate } from "react-router";
import { type Thread, titleOf } from "~/api/threads";
import { places, useThreadId } from "~/shell";
import { Button, Dialog, ErrorNote } from "~/ui";
import { useDelete } from "./use_threads";

interface DeleteThreadProps {
  /** The one to delete; nothing while nobody wants to. */
  thread: Thread | null;
  onClose: () => void;
}

export function DeleteThread({ thread, onClose }: DeleteThreadProps) {
  const remove = useDelete();
  const go = useNavigate();
  const current = useThreadId();
  const confirmed = async () => {
    if (!thread) return;
    try {
      await remove.mutateAsync(thread.thread_id);
    } catch {
      // Shown below, from the mutation itself.
      return;
    }
    if (thread.thread_id === current) void go(places.ask);
    onClose();
  };
  return (
    <Dialog
      open={thread !== null}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      title="Delete this conversation?"
      description={thread ? `“${titleOf(thread)}” and its answers. Its runs and their proofs stay.` : ""}
    >
      {remove.error && <ErrorNote error={remove.error} className="mb-3" />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" autoFocus disabled={remove.isPending} onClick={() => void confirmed()}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
