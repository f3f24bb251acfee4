// One answer: the sentence, how the question was read, its state, the evidence, what could be asked next.
import { ActionBarPrimitive, MessagePrimitive, useAuiState } from "@assistant-ui/react";
import { RefreshCw } from "lucide-react";
import { lazy, Suspense } from "react";
import { hasTags, tagsIn, withoutTags } from "~/artifact/tags";
import { plannedSteps } from "~/events/steps";
import { mainRunId, type Turn } from "~/events/turn";
import { KeepButton } from "~/keeping/keep_button";
import { Copy, classes, IconButton, Markdown } from "~/ui";
import { Approval } from "./approval";
import { Branches } from "./branches";
import { Chips } from "./chips";
import { EvidenceComing } from "./evidence_coming";
import type { Carried } from "./messages";
import { NotAnswered } from "./not_answered";
import { Reading } from "./read_parts";
import { StatusLine } from "./status_line";
import type { Answer } from "./tree";
import { useSessionState } from "./use_session";
import { importEvidence } from "./warm_up";
import { spoken } from "./wording";

const Evidence = lazy(importEvidence);
const AnswerText = lazy(() => import("~/artifact/answer_text"));
const Steps = lazy(() => import("~/artifact/steps"));

export function AnswerMessage() {
  const answer = useAuiState((state) => (state.message.metadata.custom as Partial<Carried>).answer);
  const isLast = useAuiState((state) => state.message.isLast);
  if (!answer) return null;
  return (
    <MessagePrimitive.Root
      className={classes(
        "mx-auto w-full max-w-3xl px-4 pb-8",
        // The last question can always be brought to the top: what is written below it moves nothing.
        isLast && "min-h-[calc(100cqh-64px)]",
      )}
    >
      <AnswerBody answer={answer} isLast={isLast} />
    </MessagePrimitive.Root>
  );
}

function AnswerBody({ answer, isLast }: { answer: Answer; isLast: boolean }) {
  const { turn } = answer;
  const datasetId = useSessionState((state) => state.datasetId);
  const live = useSessionState((state) => (state.head === answer.id ? state.live : null));
  const failed = turn.ending === "refused" || turn.ending === "failed";
  const waiting = turn.ending === "waiting";
  const analysis = turn.steps.length > 0 || (turn.ending === null && plannedSteps(turn).length > 0);
  const steps = <Suspense>{analysis && <Steps turn={turn} />}</Suspense>;
  return (
    <article aria-label="Answer" className="group/answer space-y-3">
      {turn.earlier.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: answers are only ever added at the end.
        <EarlierAnswer key={at} turn={one} datasetId={datasetId} />
      ))}
      {failed ? <NotAnswered answer={answer} /> : <Words turn={turn} datasetId={datasetId} />}
      {waiting && steps}
      {waiting && isLast && <Approval key={turn.waiting?.text} answer={answer} />}
      {!failed && !waiting && !analysis && <Reading turn={turn} datasetId={datasetId} />}
      <StatusLine turn={turn} live={live} />
      {!waiting && steps}
      {failed && <KeptOnTheWay turn={turn} datasetId={datasetId} />}
      {!analysis && !showsArtifacts(turn) && (turn.table !== null || turn.ending === "answered") && (
        <Suspense fallback={<EvidenceComing rows={turn.table?.rowCount ?? 6} chart={turn.chart !== null} />}>
          <Evidence turn={turn} datasetId={datasetId} />
        </Suspense>
      )}
      {isLast && turn.ending !== null && (
        <Chips label="What you could ask next" questions={turn.suggestions} datasetId={datasetId} />
      )}
      {turn.ending !== null && turn.ending !== "waiting" && <Actions turn={turn} />}
    </article>
  );
}

/** The answer to an earlier question of the same message. */
function EarlierAnswer({ turn, datasetId }: { turn: Turn; datasetId: string | null }) {
  return (
    <section className="space-y-3 border-line border-b pb-6">
      <Words turn={turn} datasetId={datasetId} />
      <Reading turn={turn} datasetId={datasetId} />
      <StatusLine turn={turn} live={null} />
      {!showsArtifacts(turn) && turn.table !== null && (
        <Suspense fallback={<EvidenceComing rows={turn.table.rowCount} chart={turn.chart !== null} />}>
          <Evidence turn={turn} datasetId={datasetId} />
        </Suspense>
      )}
    </section>
  );
}

/** What code showed stands within the words: its last table and chart are not shown once more. */
const showsArtifacts = (turn: Turn): boolean => turn.artifacts.length > 0 || hasTags(turn.text);

function Words({ turn, datasetId }: { turn: Turn; datasetId: string | null }) {
  const words = [spoken(turn), turn.ending === "stopped" ? "Stopped." : ""].filter(Boolean).join("\n\n");
  // Until there are words to stand in, what was shown waits: it would push down the steps that are being watched.
  if (showsArtifacts(turn) && (words !== "" || turn.ending !== null))
    return (
      <Suspense fallback={<Markdown text={withoutTags(words)} />}>
        <AnswerText turn={turn} text={words} datasetId={datasetId} />
      </Suspense>
    );
  if (words === "") return null;
  return (
    <div
      className={classes(
        "break-words",
        turn.ending === null || turn.ending === "answered" ? "text-answer" : "text-title",
      )}
    >
      <Markdown text={words} />
    </div>
  );
}

/** What the steps before the one that failed have shown. */
function KeptOnTheWay({ turn, datasetId }: { turn: Turn; datasetId: string | null }) {
  const tags = tagsIn(turn.text);
  if (tags.length === 0) return null;
  return (
    <Suspense>
      <AnswerText turn={turn} text={tags.map((id) => `[[${id}]]`).join("\n\n")} datasetId={datasetId} />
    </Suspense>
  );
}

/** The run whose answer can be kept: what code of a conversation showed cannot be run again by itself. */
const keepableRun = (turn: Turn): string | null =>
  turn.ending === "answered" && turn.steps.length === 0 && !showsArtifacts(turn) ? mainRunId(turn) : null;

function Actions({ turn }: { turn: Turn }) {
  const keepable = keepableRun(turn);
  return (
    <div className="-ml-1.5 flex items-center gap-1 text-ink-3">
      <Branches of="answer" />
      {keepable && <KeepButton runId={keepable} name={turn.question} small />}
      {turn.text && <Copy text={withoutTags(turn.text)} label="Copy answer" />}
      <ActionBarPrimitive.Reload asChild>
        <IconButton label="Answer again" size="smallIcon">
          <RefreshCw />
        </IconButton>
      </ActionBarPrimitive.Reload>
    </div>
  );
}
