import { useMutation, useQueryClient } from "@tanstack/react-query";
import { accountKeys } from "~/api/accounts";
import { keys } from "~/api/queries";
import { Button, Dialog, ErrorNote } from "~/ui";
import type { Act } from "./acts";
import { MadePassword } from "./made_password";

interface ActDialogProps {
  act: Act;
  name: string;
  isSelf: boolean;
  onClose: () => void;
  onDone: (said: string) => void;
}

/** Asks before an act on a user; shows the password that the act made. */
export function ActDialog({ act, name, isSelf, onClose, onDone }: ActDialogProps) {
  const client = useQueryClient();
  const run = useMutation({
    mutationFn: act.run,
    // A password is not kept after it was shown.
    gcTime: 0,
    // Nothing is waited for: a password is shown at once.
    onSuccess: (changed) => {
      onDone(act.done);
      if (!changed?.password) onClose();
      const changes = [accountKeys.users, accountKeys.teams, accountKeys.sessions(name)];
      for (const queryKey of changes) void client.invalidateQueries({ queryKey });
      if (isSelf) void client.invalidateQueries({ queryKey: keys.me });
    },
  });
  const password = run.data?.password;
  return (
    <Dialog open onOpenChange={onClose} title={act.title} description={act.says}>
      {password ? (
        <div className="space-y-3">
          <MadePassword name={name} password={password} />
          <Button onClick={onClose}>Done</Button>
        </div>
      ) : (
        <div className="space-y-3">
          {run.error && <ErrorNote error={run.error} />}
          <div className="flex flex-wrap gap-2">
            <Button
              kind={act.danger ? "danger" : "primary"}
              disabled={run.isPending}
              onClick={() => run.mutate()}
            >
              {act.button}
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
