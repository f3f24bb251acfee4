// Why a run has no result, what to do about it, and the corrections that are one click away.

import type { RunView } from "~/api/model";
import { sentence } from "~/format";
import { CodeWords, ErrorNote } from "~/ui";
import { Fixes } from "./fixes";
import { Refusal } from "./refusal";
import type { Fix } from "./verdict";

export function Trouble({ run, onFix }: { run: RunView; onFix: (fix: Fix) => void }) {
  if (!run.error) return null;
  const message = sentence(run.error.message);
  const suggestion = sentence(run.error.suggestion);
  const fixes = <Fixes fixes={run.fixes} onFix={onFix} />;
  if (run.status !== "rejected") {
    return (
      <ErrorNote error={{ ...run.error, message, suggestion }}>{run.fixes.length > 0 && fixes}</ErrorNote>
    );
  }
  return (
    <Refusal>
      <p>
        <CodeWords text={message} />
      </p>
      <p className="text-ink-2">
        <CodeWords text={suggestion} />
      </p>
      {fixes}
    </Refusal>
  );
}
