// Connects a database in three steps: its address, what its role can do, which tables are copied.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Database } from "lucide-react";
import { useState } from "react";
import { connectDatabase, databaseKeys, databasesQuery, type NewDatabase } from "~/api/databases";
import type { Databases } from "~/api/model";
import { Button, Dialog } from "~/ui";
import { ChooseTables } from "./choose_tables";
import { ConnectForm } from "./connect_form";
import { RoleResult } from "./role_result";

export function ConnectDatabase() {
  const [open, setOpen] = useState(false);
  const known = useQuery(databasesQuery()).data;
  // A person who may connect none is not offered to try.
  if (!known || known.may_connect === "none") return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Database aria-hidden />
        Connect a database
      </Button>
      {/* Mounted with the dialog: what was typed is forgotten when it closes. */}
      {open && <ConnectDialog hosts={listedHosts(known)} onClose={() => setOpen(false)} />}
    </>
  );
}

const listedHosts = (known: Databases): readonly string[] =>
  known.may_connect === "listed" ? known.hosts : [];

/** The form, which had the focus, is gone. */
const focused = (result: HTMLElement | null) => result?.focus();

function ConnectDialog({ hosts, onClose }: { hosts: readonly string[]; onClose: () => void }) {
  const client = useQueryClient();
  const connect = useMutation({
    mutationFn: (body: NewDatabase) => connectDatabase(body),
    // The password is among what was sent.
    gcTime: 0,
    onSuccess: () => client.invalidateQueries({ queryKey: databaseKeys.all, exact: true }),
  });
  const made = connect.data;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={made ? `Connected to ${made.place}` : "Connect a database"}
      description={
        made
          ? "Choose the tables to ask about."
          : "Tables that you choose are copied, or stay in the database and are asked about there."
      }
      className="max-w-2xl"
    >
      {made ? (
        <div ref={focused} tabIndex={-1} className="space-y-4 outline-none">
          <RoleResult look={made} />
          <ChooseTables database={made} chosen={[]} onDone={onClose} />
        </div>
      ) : (
        <ConnectForm
          hosts={hosts}
          error={connect.error}
          busy={connect.isPending}
          onConnect={(body) => connect.mutate(body)}
        />
      )}
    </Dialog>
  );
}
