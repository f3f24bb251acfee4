import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate } from "react-router";
import { databaseKeys } from "~/api/databases";
import { removeDataset } from "~/api/imports";
import { keys } from "~/api/queries";
import { places } from "~/shell";
import { Button, Dialog, ErrorNote } from "~/ui";

/** Removes data that a person brought, after a question. */
export function RemoveDataset({ datasetId, title }: { datasetId: string; title: string }) {
  const [open, setOpen] = useState(false);
  const client = useQueryClient();
  const go = useNavigate();
  const remove = useMutation({
    mutationFn: () => removeDataset(datasetId),
    onSuccess: async () => {
      setOpen(false);
      go(places.data);
      // What this page still shows stays until it is left: a query that is removed while it is shown is
      // fetched again, and there is nothing to fetch any more.
      client.removeQueries({ queryKey: keys.dataset(datasetId), type: "inactive" });
      await Promise.all(
        [keys.datasets, databaseKeys.all].map((queryKey) =>
          client.invalidateQueries({ queryKey, exact: true }),
        ),
      );
    },
  });
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        <Trash2 aria-hidden />
        Remove
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Remove ${title}?`}
        description="Its files and their versions are deleted. Answers stay, but their proofs can no longer be run again."
      >
        <div className="space-y-3">
          {remove.error && <ErrorNote error={remove.error} />}
          <div className="flex gap-2">
            <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Remove it
            </Button>
            <Button onClick={() => setOpen(false)}>Keep it</Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
