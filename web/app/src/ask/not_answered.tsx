// An answer that is none: why, and what can be done about it.

import { CircleAlert, ShieldAlert } from "lucide-react";
import { withoutTags } from "~/artifact/tags";
import { mainRunId, type Turn } from "~/events/turn";
import { sentence } from "~/format";
import { useDetails } from "~/shell";
import { Button, classes, Markdown } from "~/ui";
import type { Answer } from "./tree";
import { useSession, useSessionState } from "./use_session";
import { spoken } from "./wording";

export function NotAnswered({ answer }: { answer: Answer }) {
  const { turn } = answer;
  const refused = turn.ending === "refused";
  const Icon = refused ? ShieldAlert : CircleAlert;
  return (
    <div
      role={refused ? "note" : "alert"}
      className={classes(
        "flex gap-3 rounded-md border p-3",
        refused ? "border-warning/40 bg-warning-soft" : "border-danger/40 bg-danger-soft",
      )}
    >
      <Icon
        aria-hidden
        className={classes("mt-1 size-4 shrink-0", refused ? "text-warning" : "text-danger")}
      />
      <div className="min-w-0 space-y-2 break-words">
        <Markdown text={words(turn)} />
        <Refused turn={turn} />
        <Ways answer={answer} />
      </div>
    </div>
  );
}

/** The message says it whole; where there was none, the problem does. */
export function words(turn: Turn): string {
  // What had been written before it broke off is not the reason.
  const told = turn.problem && isOurs(turn) ? "" : spoken(turn);
  if (told) return withoutTags(told);
  const { message = "There is no answer.", suggestion = "" } = turn.problem ?? {};
  return [message, suggestion].filter(Boolean).map(sentence).join("\n\n");
}

const isOurs = (turn: Turn): boolean => turn.problem?.code === "NETWORK";

/** The text that was judged, with what is not allowed in it underlined. */
function Refused({ turn }: { turn: Turn }) {
  const parts = refusedParts(turn);
  if (!parts) return null;
  const [before, construct, after] = parts;
  return (
    <pre className="overflow-auto whitespace-pre-wrap break-words rounded-md border bg-page p-2 font-mono text-[13px] leading-5">
      {before}
      <span className="underline decoration-2 decoration-warning decoration-wavy underline-offset-4">
        {construct}
      </span>
      {after}
    </pre>
  );
}

/** Before, within and after the refused construct; nothing where its place is not known. */
export function refusedParts(turn: Turn): [string, string, string] | null {
  const { position, length } = turn.problem?.details ?? {};
  const text = turn.steps.at(-1)?.attempts.at(-1)?.code ?? turn.sql;
  if (turn.ending !== "refused" || text === null) return null;
  if (typeof position !== "number" || typeof length !== "number" || length < 1) return null;
  const end = position + length;
  if (position < 0 || end > text.length) return null;
  return [text.slice(0, position), text.slice(position, end), text.slice(end)];
}

function Ways({ answer }: { answer: Answer }) {
  const session = useSession();
  const running = useSessionState((state) => state.live !== null);
  const details = useDetails();
  // What was cut off may have gone well: there is nothing to mend yet.
  const nothingWrong = isOurs(answer.turn) || wasDeclined(answer.turn);
  const runId = nothingWrong ? null : mainRunId(answer.turn);
  const tab = answer.turn.steps.length > 0 ? "code" : answer.turn.plan ? "plan" : "sql";
  const retries = answer.turn.ending === "failed";
  if (!runId && !retries) return null;
  return (
    <div className="flex flex-wrap gap-2 pt-1">
      {retries && (
        <Button size="small" disabled={running} onClick={() => void session.retry(answer)}>
          Try again
        </Button>
      )}
      {runId && (
        <Button size="small" onClick={() => details.open(runId, tab)}>
          {LEADS[tab]}
        </Button>
      )}
    </div>
  );
}

/** The runs of an analysis that a person declined to go on with are those that went well. */
const wasDeclined = (turn: Turn): boolean => turn.steps.length > 0 && turn.problem === null;

const LEADS = { code: "See the code", plan: "Edit the plan or the SQL", sql: "Edit the SQL" };
