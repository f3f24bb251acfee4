import type { DatabaseTable } from "~/api/model";
import { count } from "~/format";

interface TableChoiceProps {
  table: DatabaseTable;
  chosen: boolean;
  onChoose: (on: boolean) => void;
}

export function TableChoice({ table, chosen, onChoose }: TableChoiceProps) {
  return (
    <label className="flex cursor-pointer items-start gap-2 px-3 py-1.5 hover:bg-hover">
      <input
        type="checkbox"
        className="mt-1"
        checked={chosen}
        onChange={(event) => onChoose(event.target.checked)}
      />
      <span className="wrap-anywhere min-w-0 flex-1 font-mono text-[13px]">{table.name}</span>
      <span className="shrink-0 text-right text-ink-3 text-small tabular-nums">
        {table.kind !== "table" && <span>{table.kind}, </span>}
        {table.rows === null ? count(table.columns, "column") : `about ${count(table.rows, "row")}`}
      </span>
    </label>
  );
}
