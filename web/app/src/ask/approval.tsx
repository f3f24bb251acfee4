// The server asks before it runs anything: the exact SQL or code, and what the person says to it.
import { lazy, Suspense, useState } from "react";
import type { Waiting } from "~/events/turn";
import { Button } from "~/ui";
import type { Decision, EditedAction } from "./session_state";
import type { Answer } from "./tree";
import { useSession } from "./use_session";

const PythonCode = lazy(() => import("~/artifact/python_code").then((it) => ({ default: it.PythonCode })));

export function Approval({ answer }: { answer: Answer }) {
  const session = useSession();
  const asked: Waiting = answer.turn.waiting ?? { tool: "execute_sql", text: answer.turn.sql ?? "" };
  const [text, setText] = useState<string | null>(null);
  const decide = (decision: Decision) => session.decide(answer, decision);
  const changed = text !== null && text.trim() !== asked.text.trim();
  const run = () =>
    decide(changed ? { type: "edit", edited_action: edited(asked.tool, text) } : { type: "approve" });
  const noun = asked.tool === "execute_python" ? "code" : "SQL";
  return (
    <section aria-label="Approval" className="space-y-3 rounded-md border border-line-strong p-3">
      <p className="font-medium">May this be run?</p>
      {text === null ? (
        <Exactly asked={asked} />
      ) : (
        <textarea
          aria-label={noun === "code" ? "Python code" : noun}
          value={text}
          spellCheck={false}
          rows={Math.min(16, Math.max(4, text.split("\n").length + 1))}
          onChange={(event) => setText(event.target.value)}
          className="w-full rounded-md border border-control bg-page p-3 font-mono text-[13px] leading-5"
        />
      )}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={run} disabled={text?.trim() === ""}>
          {changed ? `Run the edited ${noun}` : "Approve and run"}
        </Button>
        {text === null ? (
          <Button onClick={() => setText(asked.text)}>Edit</Button>
        ) : (
          <Button onClick={() => setText(null)}>Discard edits</Button>
        )}
        <Button kind="danger" onClick={() => decide({ type: "reject" })}>
          Reject
        </Button>
      </div>
    </section>
  );
}

function Exactly({ asked }: { asked: Waiting }) {
  const plain = (
    <pre className="max-h-96 overflow-auto whitespace-pre-wrap break-words rounded-md border bg-panel p-3 font-mono text-[13px] leading-5">
      {asked.text}
    </pre>
  );
  if (asked.tool === "execute_sql") return plain;
  return (
    <Suspense fallback={plain}>
      <PythonCode code={asked.text} wraps />
    </Suspense>
  );
}

const edited = (tool: Waiting["tool"], text: string): EditedAction =>
  tool === "execute_python" ? { name: tool, args: { code: text } } : { name: tool, args: { sql: text } };
