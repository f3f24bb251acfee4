// Which dataset is asked about, in the top line: `E-commerce ▾ 3 tables · v f9847bcd`.
import { ChevronDown } from "lucide-react";
import { useNavigate } from "react-router";
import type { DatasetSummary } from "~/api/model";
import { count } from "~/format";
import { places } from "~/shell";
import { Button, Menu, MenuChoices } from "~/ui";
import { shortVersion } from "./wording";

interface DatasetMenuProps {
  datasets: readonly DatasetSummary[];
  /** As it is called in the thread; it may not be there any more. */
  datasetId: string | null;
  /** A thread stays with its dataset: another one means a new question. */
  inThread: boolean;
}

export function DatasetMenu({ datasets, datasetId, inThread }: DatasetMenuProps) {
  const go = useNavigate();
  const dataset = datasets.find((one) => one.id === datasetId);
  if (!datasetId) return null;
  const choose = (id: string) => {
    if (id === datasetId) return;
    void go(`${places.ask}?${new URLSearchParams({ dataset: id })}`);
  };
  return (
    <div className="flex min-w-0 items-center gap-2">
      <Menu
        className="w-96 max-w-[calc(100vw-16px)]"
        trigger={
          <Button kind="quiet" className="min-w-0 shrink px-2 font-medium text-ink">
            <span className="truncate">{dataset?.title || datasetId}</span>
            <ChevronDown aria-hidden />
            <span className="sr-only">, choose a dataset</span>
          </Button>
        }
      >
        {inThread && (
          <p className="px-2 py-1.5 text-ink-3 text-small">
            This conversation stays with its dataset. Another one starts a new question.
          </p>
        )}
        <MenuChoices
          value={datasetId}
          onChange={choose}
          choices={datasets.map((one) => ({
            id: one.id,
            title: one.title || one.id,
            description: one.description,
          }))}
        />
      </Menu>
      {dataset && (
        <span className="hidden truncate text-ink-3 text-small sm:inline" title={dataset.version}>
          {count(dataset.tables.length, "table")} · v {shortVersion(dataset.version)}…
        </span>
      )}
    </div>
  );
}
