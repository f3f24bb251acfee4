// A new question is brought to the top once, and then nothing moves: its answer grows below it, and the reader
// scrolls when they want to.
import { useLayoutEffect, useRef } from "react";
import { pathTo } from "./exchange";
import { useSessionState } from "./use_session";

export function useQuestionOnTop() {
  const viewport = useRef<HTMLDivElement>(null);
  const last = useSessionState((state) => pathTo(state.tree, state.head).at(-1)?.question.id ?? null);
  useLayoutEffect(() => {
    const scroller = viewport.current;
    if (!scroller) return;
    if (last === null) {
      scroller.scrollTop = 0;
      return;
    }
    if (bring(scroller, last)) return;
    // The runtime shows a message one step after the session knows it.
    const watcher = new MutationObserver(() => {
      if (bring(scroller, last)) watcher.disconnect();
    });
    watcher.observe(scroller, { childList: true, subtree: true });
    return () => watcher.disconnect();
  }, [last]);
  return viewport;
}

/** Only what scrolls here is moved: scrollIntoView would move the page around it too. */
function bring(scroller: HTMLElement, questionId: string): boolean {
  const question = scroller.querySelector(`[data-message-id="${CSS.escape(questionId)}"]`);
  if (!question) return false;
  scroller.scrollTop += question.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  return true;
}
