import { useState } from "react";
import { copyTables } from "~/api/databases";
import type { DatabaseTable } from "~/api/model";
import { count } from "~/format";
import { follow } from "~/imports/transfers";
import { Button, Empty, SearchInput } from "~/ui";
import { found, inWords, MOST_CHOSEN, MOST_SHOWN, toggled, withFirst } from "./tables";

interface ChooseTablesProps {
  /** Of the connected database. */
  name: string;
  tables: readonly DatabaseTable[];
  /** Those that are chosen at first. */
  chosen: readonly string[];
  /** The copy was begun. */
  onCopied: () => void;
}

const MANY = 8;

export function ChooseTables({ name, tables, chosen: first, onCopied }: ChooseTablesProps) {
  const [chosen, setChosen] = useState<readonly string[]>(first);
  const [text, setText] = useState("");
  const fitting = found(withFirst(tables, first), text);
  const shown = fitting.slice(0, MOST_SHOWN);
  const names = shown.map((table) => table.name);
  const every = names.length > 0 && names.every((one) => chosen.includes(one));
  const copy = () => {
    follow(`${name}: ${count(chosen.length, "table")}`, () => copyTables(name, chosen), true);
    onCopied();
  };
  if (tables.length === 0)
    return <Empty title="The role can read no table">Grant it SELECT on some, and connect again.</Empty>;
  return (
    <div className="space-y-3">
      {tables.length > MANY && (
        <SearchInput label="Find a table" placeholder="Find a table" value={text} onText={setText} />
      )}
      <fieldset className="rounded-md border">
        <legend className="sr-only">Tables to copy</legend>
        <label className="flex cursor-pointer items-center gap-2 border-b bg-panel px-3 py-1.5 text-ink-2">
          <input type="checkbox" checked={every} onChange={() => setChosen(toggled(chosen, names, !every))} />
          {text ? "All that are found" : "All"}
        </label>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <ul className="max-h-72 overflow-auto" tabIndex={0} aria-label="Tables">
          {shown.map((table) => (
            <li key={table.name}>
              <TableChoice
                table={table}
                chosen={chosen.includes(table.name)}
                onChoose={(on) => setChosen(toggled(chosen, [table.name], on))}
              />
            </li>
          ))}
          {shown.length === 0 && <li className="px-3 py-2 text-ink-2">No table has these words.</li>}
          {fitting.length > shown.length && (
            <li className="px-3 py-2 text-ink-3 text-small">
              {count(fitting.length - shown.length, "more table")}: type more of the name.
            </li>
          )}
        </ul>
      </fieldset>
      <div className="flex flex-wrap items-center gap-3">
        <Button kind="primary" disabled={chosen.length === 0 || chosen.length > MOST_CHOSEN} onClick={copy}>
          {chosen.length === 0 ? "Copy" : `Copy ${count(chosen.length, "table")}`}
        </Button>
        {chosen.length > 0 && (
          <p className="wrap-anywhere min-w-0 flex-1 text-ink-2 text-small">{inWords(chosen)}</p>
        )}
        {chosen.length > MOST_CHOSEN && (
          <p role="alert" className="text-danger">
            {MOST_CHOSEN} tables can be copied at most.
          </p>
        )}
      </div>
    </div>
  );
}

interface TableChoiceProps {
  table: DatabaseTable;
  chosen: boolean;
  onChoose: (on: boolean) => void;
}

function TableChoice({ table, chosen, onChoose }: TableChoiceProps) {
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
