// The words of an answer with what its code showed. A thread that was opened again reads that from the runs.
import { useQueries } from "@tanstack/react-query";
import { runQuery } from "~/api/queries";
import { type Artifact, artifactsOf } from "~/events/artifact";
import { mainRunId, type Turn } from "~/events/turn";
import Placed from "./placed";

interface AnswerTextProps {
  turn: Turn;
  /** As it is spoken: without what is shown beside it. */
  text: string;
  datasetId: string | null;
}

export default function AnswerText({ turn, text, datasetId }: AnswerTextProps) {
  const missing = turn.artifacts.length === 0 && turn.ending !== null;
  const kept = useQueries({
    queries: missing ? turn.runIds.map((id) => runQuery(id)) : [],
    combine: (runs) => runs.flatMap((one) => shownBy(one.data)),
  });
  return (
    <Placed
      text={text}
      artifacts={missing ? kept : turn.artifacts}
      runId={mainRunId(turn) ?? turn.answerId ?? ""}
      datasetId={datasetId ?? undefined}
      isAnswer
    />
  );
}

const shownBy = (run: object | undefined): Artifact[] =>
  run && "artifacts" in run ? artifactsOf(run.artifacts) : [];
