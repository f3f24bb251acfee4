// An answer's text with its artifacts where their tags stand; those without a tag follow.
import { useMemo } from "react";
import type { Artifact } from "~/events/artifact";
import { classes, Markdown } from "~/ui";
import { ArtifactView } from "./artifact_view";
import { place } from "./place";

interface PlacedProps {
  text: string;
  artifacts: readonly Artifact[];
  runId: string;
  datasetId?: string | undefined;
  /** Its first sentence is the answer, and set as one. */
  isAnswer?: boolean;
}

const LONGEST_SENTENCE = 240;

export default function Placed({ text, artifacts, runId, datasetId, isAnswer = false }: PlacedProps) {
  const parts = useMemo(() => place(text, artifacts), [text, artifacts]);
  return (
    <div className="min-w-0 space-y-4">
      {parts.map((part, at) =>
        part.kind === "text" ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: text has nothing else to be told apart by
          <div key={at} className={classes("break-words", isAnswer && at === 0 && sizeOf(part.text))}>
            <Markdown text={part.text} />
          </div>
        ) : (
          <ArtifactView key={part.artifact.id} artifact={part.artifact} runId={runId} datasetId={datasetId} />
        ),
      )}
    </div>
  );
}

/** A report of several paragraphs is read, not seen at a glance. */
function sizeOf(text: string): string {
  return text.length <= LONGEST_SENTENCE && !text.includes("\n") ? "text-answer" : "text-title";
}
