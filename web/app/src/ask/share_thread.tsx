import { useQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { threadOwnerQuery } from "~/api/threads";
import { ShareDialog } from "~/sharing/share_dialog";
import { SharedMark } from "~/sharing/shared_mark";
import { useWhose } from "~/sharing/use_sharing";
import { Button } from "~/ui";

/** Who shared the conversation, which can be read only then; null for one's own. */
export function useSharedBy(threadId: string | null): string | null {
  const whose = useWhose();
  const { people } = whose(undefined);
  const owner = useQuery({ ...threadOwnerQuery(threadId ?? ""), enabled: people && threadId !== null });
  const { mine, sharedBy } = whose(owner.data ?? undefined);
  return mine ? null : sharedBy;
}

/** At the end of the bar over a conversation: it can be shared, or says whose it is. */
export function ShareThread({ threadId, title }: { threadId: string; title: string }) {
  const [open, setOpen] = useState(false);
  const { people } = useWhose()(undefined);
  const sharedBy = useSharedBy(threadId);
  if (!people) return null;
  if (sharedBy) return <SharedMark by={sharedBy} />;
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)} aria-label="Share">
        <UserPlus aria-hidden />
        <span className="hidden sm:inline">Share</span>
      </Button>
      <ShareDialog kind="thread" id={threadId} title={title} open={open} onOpenChange={setOpen} />
    </>
  );
}
