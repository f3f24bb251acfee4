import { UserPlus } from "lucide-react";
import { useState } from "react";
import { ShareDialog } from "~/sharing/share_dialog";
import { Button } from "~/ui";

/** Shares data that a person brought. */
export function ShareDataset({ datasetId, title }: { datasetId: string; title: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <UserPlus aria-hidden />
        Share
      </Button>
      <ShareDialog kind="dataset" id={datasetId} title={title} open={open} onOpenChange={setOpen} />
    </>
  );
}
