import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { runsQuery } from "~/api/queries";
import { useCommandList } from "~/commands";
import { ago } from "~/format";
import { places } from "~/shell";
import { markOf } from "./run_marks";
import { titleOf } from "./run_words";

const LAST = 8;

/** The last runs as commands of the palette. Shows nothing. */
export function RunCommands() {
  const go = useNavigate();
  const { data } = useInfiniteQuery(runsQuery({ limit: LAST }));
  const all = data?.pages[0]?.runs ?? [];
  // One line for a question: what was read beside it is found in the list.
  const last = all.filter((run) => markOf(run, all) === null);
  useCommandList([
    { id: "runs.compare", title: "Compare two runs", group: "Runs", run: () => go(places.pickToCompare) },
    ...last.map((run) => ({
      id: `run.${run.run_id}`,
      title: `${titleOf(run).text} · ${ago(run.created_at).text}`,
      group: "Runs",
      words: `${run.status} ${run.dataset_id}`,
      run: () => go(places.run(run.run_id)),
    })),
  ]);
  return null;
}
