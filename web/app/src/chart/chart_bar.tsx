import { ChartNoAxesColumn, ChevronDown, Download } from "lucide-react";
import { Button, type Choice, IconButton, Menu, MenuChoices, MenuItem } from "~/ui";
import type { PictureFormat } from "./picture";
import type { ChartType } from "./redraw";
import { TYPES } from "./types";

interface ChartBarProps {
  title: string;
  type: ChartType | null;
  types: readonly ChartType[];
  /** The server drew one: it can be gone back to. */
  asDrawn: boolean;
  chosen: ChartType | null;
  onChoose: (type: ChartType | null) => void;
  /** Nothing while there is no picture. */
  onSave: ((format: PictureFormat) => void) | null;
}

const AS_DRAWN = "as-drawn";

export function ChartBar({ title, type, types, asDrawn, chosen, onChoose, onSave }: ChartBarProps) {
  const Icon = type ? TYPES[type].icon : ChartNoAxesColumn;
  const choices: Choice[] = types.map((id) => ({ id, title: TYPES[id].title }));
  if (asDrawn) choices.unshift({ id: AS_DRAWN, title: "As drawn" });
  return (
    <div className="flex h-10 items-center gap-1 bg-panel pr-1 pl-3">
      <figcaption className="mr-auto truncate text-ink-2 text-small" title={title}>
        {title}
      </figcaption>
      {choices.length > 1 || !asDrawn ? (
        <Menu
          align="end"
          trigger={
            <Button kind="quiet" size="small" aria-label={`Chart type: ${type ? TYPES[type].title : "none"}`}>
              <Icon aria-hidden />
              {type ? TYPES[type].title : "Draw a chart"}
              <ChevronDown aria-hidden className="size-3!" />
            </Button>
          }
        >
          <MenuChoices
            choices={choices}
            value={chosen ?? AS_DRAWN}
            onChange={(id) => onChoose(types.find((one) => one === id) ?? null)}
          />
        </Menu>
      ) : null}
      {onSave && (
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
      )}
    </div>
  );
}
