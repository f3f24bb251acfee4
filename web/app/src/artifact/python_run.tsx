// What a run of Python showed, printed and was made of.
import { type ReactNode, useMemo } from "react";
import type { RunView } from "~/api/model";
import { type Artifact, artifactsOf } from "~/events/artifact";
import { ArtifactView } from "./artifact_view";
import { Output } from "./output";
import { PythonCode } from "./python_code";

interface PythonRunProps {
  run: RunView;
  code: string;
  /** The rows, where code showed nothing but has some. */
  rows: ReactNode;
}

export function PythonRun({ run, code, rows }: PythonRunProps) {
  const artifacts = useMemo(() => shownBy(run), [run]);
  // The rows of a run are those of the last table that its code showed.
  const result = run.rows ? artifacts.findLast((one) => one.kind === "table") : undefined;
  const failed = run.status === "failed";
  // What was refused stands above, with the place marked.
  const refused = run.verdict?.decision === "refused" && typeof run.verdict.position === "number";
  const quiet = artifacts.length === 0 && !run.rows;
  return (
    <>
      {artifacts.length === 0 && rows}
      {artifacts.map((artifact) => (
        <ArtifactView
          key={artifact.id}
          artifact={artifact}
          runId={run.run_id}
          datasetId={run.dataset_id}
          isResult={artifact === result}
        />
      ))}
      <Output text={run.stdout} label="Output" />
      <Output text={run.stderr} label="Errors of the code" trouble={failed} />
      {!refused && (
        <details open={quiet}>
          <summary className="w-fit cursor-pointer text-ink-2 hover:text-ink">
            Python
            {run.origin && <span className="text-ink-3"> · proposed by {run.origin.proposer}</span>}
          </summary>
          <div className="mt-2">
            <PythonCode code={code} />
          </div>
        </details>
      )}
    </>
  );
}

const shownBy = (run: object): Artifact[] => ("artifacts" in run ? artifactsOf(run.artifacts) : []);
