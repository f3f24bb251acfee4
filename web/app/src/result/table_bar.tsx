import { ListFilter, Maximize2 } from "lucide-react";
import { IconButton, Input } from "~/ui";
import type { Cells } from "./clipboard";
import { CopyTable } from "./copy_table";
import { Downloads } from "./downloads";

interface TableBarProps {
  /** Nothing where there are no files to download. */
  runId: string | null;
  words: string;
  quick: string;
  onQuick: (text: string) => void;
  onQuickFocus: () => void;
  /** More rows than are seen at once. */
  many: boolean;
  filtersOpen: boolean;
  onFiltersOpen: (open: boolean) => void;
  copied: () => Cells;
  expanded: boolean;
  onExpand: () => void;
}

export function TableBar(props: TableBarProps) {
  const {
    runId,
    words,
    quick,
    onQuick,
    onQuickFocus,
    many,
    filtersOpen,
    onFiltersOpen,
    copied,
    expanded,
    onExpand,
  } = props;
  return (
    <div className="flex min-h-10 shrink-0 flex-wrap items-center gap-1 border-b bg-panel py-1 pr-1 pl-3">
      <p role="status" className="text-ink-2 text-small">
        {words}
      </p>
      <div className="ml-auto flex min-w-0 items-center gap-1">
        {(many || quick !== "") && (
          <Input
            label="Filter all columns"
            type="search"
            placeholder="Filter rows"
            value={quick}
            onChange={(event) => onQuick(event.target.value)}
            onFocus={onQuickFocus}
            className="mr-1 h-7 w-28 sm:w-40 text-small"
          />
        )}
        <IconButton
          label={filtersOpen ? "Put column filters away" : "Filter by column"}
          size="smallIcon"
          aria-pressed={filtersOpen}
          className={filtersOpen ? "bg-hover text-ink" : ""}
          onClick={() => onFiltersOpen(!filtersOpen)}
        >
          <ListFilter />
        </IconButton>
        <CopyTable table={copied} />
        {runId !== null && <Downloads runId={runId} />}
        {!expanded && (
          <IconButton label="Expand" size="smallIcon" onClick={onExpand}>
            <Maximize2 />
          </IconButton>
        )}
      </div>
    </div>
  );
}
