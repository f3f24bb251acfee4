import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { datasetsQuery } from "~/api/queries";
import { useCommandList } from "~/commands";
import { places } from "~/shell";

/** Each dataset as a command of the palette. Shows nothing. */
export function DatasetCommands() {
  const go = useNavigate();
  const { data = [] } = useQuery(datasetsQuery());
  useCommandList(
    data.map((dataset) => ({
      id: `dataset.${dataset.id}`,
      title: `Data: ${dataset.title || dataset.id}`,
      group: "Datasets",
      words: `${dataset.id} ${dataset.tables.map((table) => table.name).join(" ")}`,
      run: () => go(places.dataset(dataset.id)),
    })),
  );
  return null;
}
