import { ShieldAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { sentence } from "~/format";
import { Button, CodeText, CodeWords, Field } from "~/ui";
import type { Refused } from "./refused";

interface RefusedRoleProps {
  refused: Refused;
  busy: boolean;
  onAllow: () => void;
}

/** Why a role is not used, how to make one that can only read, and how to use it all the same. */
export function RefusedRole({ refused, busy, onAllow }: RefusedRoleProps) {
  const { role, reasons, grants } = refused;
  const [typed, setTyped] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed === role) onAllow();
  };
  return (
    <section
      aria-label="What the role can do"
      className="space-y-3 rounded-md border border-danger/40 bg-danger-soft p-3"
    >
      <div role="alert" className="space-y-2">
        <p className="flex items-start gap-2 font-medium text-danger">
          <ShieldAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span className="wrap-anywhere">{role} can do more than read. It was not connected.</span>
        </p>
        <ul className="list-disc space-y-0.5 pl-9 text-danger">
          {reasons.map((reason) => (
            <li key={reason} className="wrap-anywhere">
              <CodeWords text={sentence(reason)} />
            </li>
          ))}
        </ul>
      </div>
      {grants.length > 0 && (
        <div className="space-y-1">
          <p>The owner of the database makes a role that can only read with these statements:</p>
          <CodeText text={grants.join("\n")} label="the statements" className="bg-page" />
        </div>
      )}
      <form onSubmit={submit} className="space-y-2">
        <Field
          label={`To use it all the same, type its name: ${role}`}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          autoComplete="off"
          spellCheck={false}
        />
        <Button type="submit" kind="danger" disabled={busy || typed !== role}>
          Use a role that can write
        </Button>
      </form>
    </section>
  );
}
