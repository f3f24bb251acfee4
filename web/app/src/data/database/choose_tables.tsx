import { useState } from "react";
import { copyTables } from "~/api/databases";
import type { DatabaseLook } from "~/api/model";
import { count } from "~/format";
import { follow } from "~/imports/transfers";
import { Button, Empty, SearchInput } from "~/ui";
import { AskLive } from "./ask_live";
import { TableChoice } from "./table_choice";
import { found, inWords, MOST_CHOSEN, MOST_SHOWN, toggled, withFirst } from "./tables";

interface ChooseTablesProps {
  database: DatabaseLook;
  /** Those that are chosen at first. */
  chosen: readonly string[];
  /** The copy was begun, or the tables can be asked about where they are. */
  onDone: () => void;
}

const MANY = 8;

export function ChooseTables({ database, chosen: first, onDone }: ChooseTablesProps) {
  const { name, tables } = database;
  const [chosen, setChosen] = useState<readonly string[]>(first);
  const [text, setText] = useState("");
  const fitting = found(withFirst(tables, first), text);
  const shown = fitting.slice(0, MOST_SHOWN);
  const names = shown.map((table) => table.name);
  const every = names.length > 0 && names.every((one) => chosen.includes(one));
  const copy = () => {
    follow(`${name}: ${count(chosen.length, "table")}`, () => copyTables(name, chosen), true);
    onDone();
  };
  if (tables.length === 0)
    return <Empty title="The role can read no table">Grant it SELECT on some, and connect again.</Empty>;
  return (
    <div className="space-y-3">
      {tables.length > MANY && (
        <SearchInput label="Find a table" placeholder="Find a table" value={text} onText={setText} />
      )}
      <fieldset className="rounded-md border">
        <legend className="sr-only">Tables</legend>
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
        {database.can_be_live && (
          <AskLive name={name} tables={chosen} disabled={chosen.length > MOST_CHOSEN} onDone={onDone} />
        )}
        {chosen.length > 0 && (
          <p className="wrap-anywhere min-w-0 flex-1 text-ink-2 text-small">{inWords(chosen)}</p>
        )}
        {chosen.length > MOST_CHOSEN && (
          <p role="alert" className="text-danger">
            {MOST_CHOSEN} tables can be chosen at most.
          </p>
        )}
      </div>
      {database.can_be_live && (
        <p className="text-ink-3 text-small">
          A copy is pinned: its answers can be computed again. Tables that stay in the database are always
          current, and their answers are signed, but not pinned.
        </p>
      )}
    </div>
  );
}
