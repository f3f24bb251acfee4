import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { databaseQuery } from "~/api/databases";
import type { Database } from "~/api/model";
import { Button, Dialog, ErrorNote, SkeletonLines } from "~/ui";
import { ChooseTables } from "./choose_tables";
import { refusedRole } from "./refused";
import { RoleResult } from "./role_result";
import { still } from "./tables";

/** Chooses tables of a database that is connected; it is asked what it has now. */
export function OtherTables({ database, label }: { database: Database; label: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{label}</Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Tables of ${database.place}`}
        description="Copied tables are all of one moment."
        className="max-w-2xl"
      >
        <Look name={database.name} copied={database.copied} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

interface LookProps {
  name: string;
  copied: readonly string[];
  onDone: () => void;
}

function Look({ name, copied, onDone }: LookProps) {
  const look = useQuery(databaseQuery(name));
  if (look.isPending) return <SkeletonLines lines={6} label="Asking the database" />;
  if (!look.data) return <Unusable error={look.error} onRetry={() => look.refetch()} />;
  return (
    <div className="space-y-4">
      <RoleResult look={look.data} />
      <ChooseTables database={look.data} chosen={still(copied, look.data.tables)} onDone={onDone} />
    </div>
  );
}

/** Its role may have got more rights since it was connected. */
function Unusable({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const refused = refusedRole(error);
  return (
    <ErrorNote error={error} onRetry={onRetry}>
      {refused && <p className="text-ink-2">To allow {refused.role}, connect the database again.</p>}
    </ErrorNote>
  );
}
