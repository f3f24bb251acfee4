// What can be done on this page, for keys and palette.
import { useAui } from "@assistant-ui/react";
import { useNavigate } from "react-router";
import type { DatasetSummary } from "~/api/model";
import { useCommandList } from "~/commands";
import { places } from "~/shell";
import { focusQuestion } from "./composer";
import { pathTo } from "./exchange";
import { useSession, useSessionState } from "./use_session";

export function useAskCommands(datasets: readonly DatasetSummary[]): void {
  const session = useSession();
  const go = useNavigate();
  const aui = useAui();
  const running = useSessionState((state) => state.live !== null);
  const last = useSessionState((state) => {
    const question = pathTo(state.tree, state.head).at(-1)?.question;
    return question && question.chosen === null ? question.id : null;
  });
  const start = (address: string) => {
    // At once: the address follows a moment later, and a person may type before that.
    session.clear();
    void go(address);
    focusQuestion();
  };
  const editLast = () => {
    if (last) aui.thread().message({ id: last }).composer().beginEdit();
  };
  useCommandList([
    { id: "thread.new", title: "New question", keys: "n", run: () => start(places.ask) },
    { id: "ask.focus", title: "Write a question", keys: "/", run: focusQuestion },
    ...(running ? [{ id: "ask.stop", title: "Stop", keys: ".", run: () => void session.stop() }] : []),
    ...(last && !running
      ? [{ id: "ask.edit", title: "Edit the last question", keys: "e", run: editLast }]
      : []),
    ...datasets.map((one) => ({
      id: `dataset.${one.id}`,
      title: `Ask about ${one.title || one.id}`,
      group: "Datasets",
      words: one.description,
      run: () => start(`${places.ask}?${new URLSearchParams({ dataset: one.id })}`),
    })),
  ]);
}
