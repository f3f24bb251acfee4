// Python that ran, or was refused, and what the gate said of it. A cell of an analysis stands on those before it:
// it is read here, not edited.
import type { RunView } from "~/api/model";
import { PythonCode } from "~/artifact/python_code";
import { count } from "~/format";
import { verdictOf } from "./draft";
import { Section } from "./facts";
import { Refusal } from "./refusal";
import { Trouble } from "./trouble";
import { Approved, Reason } from "./verdict_note";

export function CodeTab({ run, code }: { run: RunView; code: string }) {
  const verdict = verdictOf(run);
  return (
    <div className="space-y-4">
      <Section title="Code">
        <PythonCode code={code} />
      </Section>
      {verdict?.verdict === "approved" && <Approved verdict={verdict} />}
      {verdict?.verdict === "refused" && (
        <Refusal>
          <Reason verdict={verdict} />
        </Refusal>
      )}
      {run.status === "failed" && <Trouble run={run} onFix={() => undefined} />}
      {run.replayed > 0 && (
        <p className="text-ink-2">
          {count(run.replayed, "earlier cell")} ran again before it, because the session had ended.
        </p>
      )}
    </div>
  );
}
