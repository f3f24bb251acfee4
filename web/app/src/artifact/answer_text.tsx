// The words of an answer with what its code showed. A thread that was opened again reads that from the runs.
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { runQuery } from "~/api/queries";
import { type Artifact, artifactsOf, withArtifact } from "~/events/artifact";
import { mainRunId, type Turn } from "~/events/turn";
import Placed from "./placed";
import { tagsIn } from "./tags";

interface AnswerTextProps {
  turn: Turn;
  /** As it is spoken: without what is shown beside it. */
  text: string;
  datasetId: string | null;
}

export default function AnswerText({ turn, text, datasetId }: AnswerTextProps) {
  const { artifacts } = turn;
  const tags = useMemo(() => tagsIn(text), [text]);
  const known = new Set(artifacts.map((one) => one.id));
  // The thread keeps what is not too large; the runs have it all.
  const missing = turn.ending !== null && (artifacts.length === 0 || tags.some((id) => !known.has(id)));
  const kept = useQueries({
    queries: missing ? turn.runIds.map((id) => runQuery(id)) : [],
    combine: (runs) => runs.flatMap((one) => shownBy(one.data)),
  });
  const shown = useMemo(() => {
    const all = kept.reduce<Artifact[]>(withArtifact, [...artifacts]);
    // What a step showed on the way there stands with that step.
    return turn.steps.length === 0 ? all : all.filter((one) => tags.includes(one.id));
  }, [kept, artifacts, tags, turn.steps.length]);
  return (
    <Placed
      text={text}
      artifacts={shown}
      runId={mainRunId(turn) ?? turn.answerId ?? ""}
      datasetId={datasetId ?? undefined}
      isAnswer
    />
  );
}

const shownBy = (run: object | undefined): Artifact[] =>
  run && "artifacts" in run ? artifactsOf(run.artifacts) : [];
