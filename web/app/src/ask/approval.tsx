// The server asks before it runs anything: the exact SQL, and what the person says to it.
import { useState } from "react";
import { Button } from "~/ui";
import type { Decision } from "./session_state";
import type { Answer } from "./tree";
import { useSession } from "./use_session";

export function Approval({ answer }: { answer: Answer }) {
  const session = useSession();
  const asked = answer.turn.sql ?? "";
  const [sql, setSql] = useState<string | null>(null);
  const decide = (decision: Decision) => session.decide(answer, decision);
  const changed = sql !== null && sql.trim() !== asked.trim();
  const run = () =>
    decide(
      changed ? { type: "edit", edited_action: { name: "execute_sql", args: { sql } } } : { type: "approve" },
    );
  return (
    <section aria-label="Approval" className="space-y-3 rounded-md border border-line-strong p-3">
      <p className="font-medium">May this be run?</p>
      {sql === null ? (
        <pre className="max-h-96 overflow-auto whitespace-pre-wrap break-words rounded-md border bg-panel p-3 font-mono text-[13px] leading-5">
          {asked}
        </pre>
      ) : (
        <textarea
          aria-label="SQL"
          value={sql}
          spellCheck={false}
          rows={Math.min(16, Math.max(4, sql.split("\n").length + 1))}
          onChange={(event) => setSql(event.target.value)}
          className="w-full rounded-md border border-control bg-page p-3 font-mono text-[13px] leading-5"
        />
      )}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={run} disabled={sql?.trim() === ""}>
          {changed ? "Run the edited SQL" : "Approve and run"}
        </Button>
        {sql === null ? (
          <Button onClick={() => setSql(asked)}>Edit</Button>
        ) : (
          <Button onClick={() => setSql(null)}>Discard edits</Button>
        )}
        <Button kind="danger" onClick={() => decide({ type: "reject" })}>
          Reject
        </Button>
      </div>
    </section>
  );
}
