// Where a question is written. It is never disabled: while an answer is under way one can write the next.
import { ComposerPrimitive, useAui, useAuiState } from "@assistant-ui/react";
import { ArrowUp, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useSearchParams } from "react-router";
import { commands } from "~/commands";
import { useThreadId } from "~/shell";
import { IconButton, useLate } from "~/ui";
import { draftOf, keepDraft } from "./draft";
import { useSessionState } from "./use_session";
import { warmUp } from "./warm_up";

export const COMPOSER_ID = "question";
const LONGEST = 16_384;

// On a touch screen the focus would bring up a keyboard that covers half the page.
const HAS_KEYBOARD = matchMedia("(pointer: fine)").matches;

export function Composer({ placeholder }: { placeholder: string }) {
  const running = useSessionState((state) => state.live !== null);
  const stopping = useSessionState((state) => state.live?.stopping === true);
  const empty = useAuiState((state) => state.composer.text.trim() === "");
  const [sendsLater, sendLater] = useLateSending();
  useDraft();
  useAskedInAddress();
  const pressed = (event: KeyboardEvent) => {
    warmUp();
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing && !running) sendLater();
    // What was written is kept until the answer is there; Enter then sends it.
    if (event.key === "Enter" && !event.shiftKey && (running || empty)) event.preventDefault();
  };
  return (
    <>
      <Waiting for={sendsLater} />
      <ComposerPrimitive.Root className="flex items-end gap-2 rounded-lg border border-control bg-page p-1.5 transition-colors focus-within:border-accent">
        <ComposerPrimitive.Input
          id={COMPOSER_ID}
          aria-label="Question"
          placeholder={placeholder}
          autoFocus={HAS_KEYBOARD}
          maxRows={6}
          maxLength={LONGEST}
          cancelOnEscape={false}
          unstable_focusOnRunStart={false}
          onKeyDown={pressed}
          className="min-h-8 min-w-0 flex-1 resize-none bg-transparent px-2 py-1.5 outline-none placeholder:text-ink-3"
        />
        {running ? (
          <IconButton
            label={stopping ? "Stopping" : "Stop"}
            keys="."
            kind="plain"
            disabled={stopping}
            onClick={() => commands.run("ask.stop")}
          >
            <Square fill="currentColor" className="scale-75" />
          </IconButton>
        ) : (
          <ComposerPrimitive.Send asChild>
            <IconButton label="Ask" keys="enter" kind="primary">
              <ArrowUp />
            </IconButton>
          </ComposerPrimitive.Send>
        )}
      </ComposerPrimitive.Root>
    </>
  );
}

/** Whoever is quicker than the list of datasets need not press Enter twice: the question goes out when it can. */
function useLateSending(): [waits: boolean, wait: () => void] {
  const aui = useAui();
  const canSend = useAuiState((state) => state.composer.canSend);
  const text = useAuiState((state) => state.composer.text);
  const [waiting, setWaiting] = useState<string | null>(null);
  // Whoever goes on writing wants to say something else.
  const waits = waiting !== null && waiting === text;
  useEffect(() => {
    if (!waits || !canSend) return;
    setWaiting(null);
    aui.composer().send();
  }, [waits, canSend, aui]);
  return [waits && !canSend, () => setWaiting(canSend || text.trim() === "" ? null : text)];
}

function Waiting({ for: waits }: { for: boolean }) {
  const late = useLate(waits);
  return (
    <p role="status" className="text-ink-3 text-small not-empty:mb-2">
      {late && "Your question is sent as soon as the data is there."}
    </p>
  );
}

/** What is written belongs to its thread; it is there again when the thread is. */
function useDraft(): void {
  const threadId = useThreadId();
  const aui = useAui();
  const text = useAuiState((state) => state.composer.text);
  const shown = useRef<string | null | undefined>(undefined);
  useEffect(() => {
    if (shown.current === threadId) {
      keepDraft(threadId, text);
      return;
    }
    const first = shown.current === undefined;
    // A new question that has just got its thread was sent: what is written meanwhile moves with it.
    const moved = shown.current === null && text !== "" && !first;
    if (shown.current === null) keepDraft(null, moved && threadId === null ? text : "");
    shown.current = threadId;
    if (moved) keepDraft(threadId, text);
    else aui.composer().setText(draftOf(threadId));
  }, [threadId, text, aui]);
}

/** A link may bring a question (`?q=…`): it is written for the reader to send, and leaves the address. */
function useAskedInAddress(): void {
  const [parameters, setParameters] = useSearchParams();
  const aui = useAui();
  const asked = parameters.get("q");
  useEffect(() => {
    if (asked === null) return;
    aui.composer().setText(asked.slice(0, LONGEST));
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        after.delete("q");
        return after;
      },
      { replace: true },
    );
  }, [asked, aui, setParameters]);
}
