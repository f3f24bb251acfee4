import { Unplug } from "lucide-react";
import { useState } from "react";
import type { Database } from "~/api/model";
import { Button, Dialog, ErrorNote } from "~/ui";
import { useDisconnect } from "./use_databases";

/** Forgets a database, after a question. */
export function Disconnect({ database }: { database: Database }) {
  const [open, setOpen] = useState(false);
  const disconnect = useDisconnect(database.name);
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Unplug aria-hidden />
        Disconnect
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Disconnect ${database.place}?`}
        description="Its address and its password are forgotten. What was copied stays."
      >
        <div className="space-y-3">
          {disconnect.error && <ErrorNote error={disconnect.error} />}
          <div className="flex gap-2">
            <Button kind="danger" disabled={disconnect.isPending} onClick={() => disconnect.mutate()}>
              Disconnect it
            </Button>
            <Button onClick={() => setOpen(false)}>Keep it</Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
