// Where a question is written. It is never disabled: while an answer is under way one can write the next.
// The text is kept in `drafts`, outside of React and of assistant-ui, whose own composer is ready only some
// moments after its field can be seen: what was typed until then was lost.
import { ArrowUp, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { useSearchParams } from "react-router";
import { commands } from "~/commands";
import { IconButton, useLate } from "~/ui";
import { drafts } from "./drafts";
import { useSession, useSessionState } from "./use_session";
import { warmUp } from "./warm_up";

export const COMPOSER_ID = "question";
const LONGEST = 16_384;
const MOST_LINES = 6;

// On a touch screen the focus would bring up a keyboard that covers half the page.
const HAS_KEYBOARD = matchMedia("(pointer: fine)").matches;

export const focusQuestion = () => document.getElementById(COMPOSER_ID)?.focus();

/** After a question was asked without typing. */
export const focusAfterAsking = () => {
  if (HAS_KEYBOARD) focusQuestion();
};

interface ComposerProps {
  placeholder: string;
  /** What the question is about; nothing as long as the datasets are not known. */
  datasetId: string | null;
}

export function Composer({ placeholder, datasetId }: ComposerProps) {
  const session = useSession();
  const running = useSessionState((state) => state.live !== null);
  const stopping = useSessionState((state) => state.live?.stopping === true);
  const threadId = useDraftsThread();
  const text = useSyncExternalStore(drafts.subscribe, () => drafts.get(threadId));
  const waits = useSyncExternalStore(drafts.subscribe, () => drafts.waits(threadId));
  useAskedInAddress();
  const send = () => {
    // Of this moment: the last letter and Enter may both arrive before the page is rendered again.
    const { threadId, live } = session.get();
    const question = drafts.get(threadId);
    if (live || question.trim() === "") return;
    if (datasetId === null) {
      drafts.sendLater(threadId);
      return;
    }
    drafts.set(threadId, "");
    if (!session.ask(question, datasetId)) drafts.set(threadId, question);
  };
  useEffect(() => {
    if (waits && datasetId !== null) send();
  });
  const pressed = (event: KeyboardEvent) => {
    warmUp();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    // While an answer is under way, what was written stays; Enter sends it when the answer is there.
    send();
  };
  return (
    <>
      <Waiting for={waits && datasetId === null} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        className="flex items-end gap-2 rounded-lg border border-control bg-page p-1.5 transition-colors focus-within:border-accent"
      >
        <textarea
          ref={useLines(text)}
          id={COMPOSER_ID}
          aria-label="Question"
          placeholder={placeholder}
          // biome-ignore lint/a11y/noAutofocus: the page has one purpose, and this is where it begins
          autoFocus={HAS_KEYBOARD}
          rows={1}
          maxLength={LONGEST}
          value={text}
          onChange={(event) => drafts.set(session.get().threadId, event.target.value)}
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
          <IconButton
            type="submit"
            label="Ask"
            keys="enter"
            kind="primary"
            disabled={datasetId === null || text.trim() === ""}
          >
            <ArrowUp />
          </IconButton>
        )}
      </form>
    </>
  );
}

/**
 * Whose draft is shown. The session knows at once; the address changes some moments after "New question", and what
 * was typed in between would be kept for the thread before.
 */
function useDraftsThread(): string | null {
  const threadId = useSessionState((state) => state.threadId);
  const opening = useSessionState((state) => state.opening);
  const shown = useRef(threadId);
  useLayoutEffect(() => {
    // It got its thread by being asked, not by being opened.
    if (shown.current === null && threadId !== null && !opening) drafts.move(threadId);
    shown.current = threadId;
  }, [threadId, opening]);
  return threadId;
}

/** As high as its text, up to MOST_LINES. */
function useLines(text: string) {
  const field = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = "auto";
    const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(box);
    const most =
      MOST_LINES * Number.parseFloat(lineHeight) +
      Number.parseFloat(paddingTop) +
      Number.parseFloat(paddingBottom);
    box.style.height = `${Math.min(box.scrollHeight, most)}px`;
  }, [text]);
  return field;
}

function Waiting({ for: waits }: { for: boolean }) {
  const late = useLate(waits);
  return (
    <p role="status" className="text-ink-3 text-small not-empty:mb-2">
      {late && "Your question is sent as soon as the data is there."}
    </p>
  );
}

/** A link may bring a question (`?q=…`): it is written for the reader to send, and leaves the address. */
function useAskedInAddress(): void {
  const [parameters, setParameters] = useSearchParams();
  const session = useSession();
  const asked = parameters.get("q");
  useEffect(() => {
    if (asked === null) return;
    drafts.set(session.get().threadId, asked.slice(0, LONGEST));
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        after.delete("q");
        return after;
      },
      { replace: true },
    );
  }, [asked, session, setParameters]);
}
