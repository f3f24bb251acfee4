import { ChartNoAxesColumn, ChevronDown, Download } from "lucide-react";
import type { ChartKind } from "~/api/model";
import { Button, type Choice, IconButton, Menu, MenuChoices, MenuItem } from "~/ui";
import type { PictureFormat } from "./picture";
import { KINDS } from "./types";

interface ChartBarProps {
  title: string;
  /** What is shown; nothing before the server said it. */
  kind: ChartKind | null;
  /** Those that can show the same rows. */
  kinds: readonly ChartKind[];
  chosen: ChartKind | null;
  onChoose: (kind: ChartKind | null) => void;
  onSave: (format: PictureFormat) => void;
}

const AS_DRAWN = "as-drawn";

export function ChartBar({ title, kind, kinds, chosen, onChoose, onSave }: ChartBarProps) {
  const Icon = kind ? KINDS[kind].icon : ChartNoAxesColumn;
  const name = kind ? KINDS[kind].title : "Chart";
  const choices: Choice[] = [
    { id: AS_DRAWN, title: "As drawn" },
    ...kinds.map((id) => ({ id, title: KINDS[id].title })),
  ];
  return (
    <div className="flex h-10 items-center gap-1 bg-panel pr-1 pl-3">
      <figcaption className="mr-auto truncate text-ink-2 text-small" title={title}>
        {title}
      </figcaption>
      {kinds.length > 0 && (
        <Menu
          align="end"
          trigger={
            <Button kind="quiet" size="small" aria-label={`Chart type: ${name}`}>
              <Icon aria-hidden />
              {name}
              <ChevronDown aria-hidden className="size-3!" />
            </Button>
          }
        >
          <MenuChoices
            choices={choices}
            value={chosen ?? AS_DRAWN}
            onChange={(id) => onChoose(kinds.find((one) => one === id) ?? null)}
          />
        </Menu>
      )}
      <Menu
        align="end"
        trigger={
          <IconButton label="Download chart" size="smallIcon">
            <Download />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => onSave("png")}>PNG</MenuItem>
        <MenuItem onSelect={() => onSave("svg")}>SVG</MenuItem>
      </Menu>
    </div>
  );
}
