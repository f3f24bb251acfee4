// The filters of a board: each is a condition in the plan of every tile that has the column.
import { useMutation, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { ListFilter, X } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { boardKeys, changeBoard } from "~/api/boards";
import type { Board, BoardCondition, Column } from "~/api/model";
import { datasetQuery, profileQuery } from "~/api/queries";
import { Button, classes, ErrorNote, IconButton, Input, Select } from "~/ui";
import { conditionOf, inWords, type Op, opsFor, takesValue, WORDS } from "./conditions";

const MOST_VALUES = 100;

interface FilterBarProps {
  board: Board;
  changeable: boolean;
  /** After the filters changed: every tile is to run with them. */
  onFiltered: () => void;
}

export function FilterBar({ board, changeable, onFiltered }: FilterBarProps) {
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const change = useMutation({
    mutationFn: (filters: readonly BoardCondition[]) =>
      changeBoard(board.id, board.edition, { ...board, filters }),
    onSuccess: async (made) => {
      client.setQueryData(boardKeys.board(board.id), made);
      setAdding(false);
      await client.invalidateQueries({ queryKey: boardKeys.results(board.id) });
      // Without filters, what was kept is shown again.
      if (made.filters.length > 0) onFiltered();
    },
    onError: () => client.invalidateQueries({ queryKey: boardKeys.board(board.id), exact: true }),
  });
  if (board.tiles.length === 0 || (!changeable && board.filters.length === 0)) return null;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <ul aria-label="Filters" className="contents">
          {board.filters.map((filter, at) => (
            <li
              key={inWords(filter)}
              className="inline-flex h-8 items-center gap-1 rounded-md border bg-panel pr-1 pl-3 text-ink-2"
            >
              {inWords(filter)}
              {changeable && (
                <IconButton
                  label={`Remove the filter ${inWords(filter)}`}
                  size="smallIcon"
                  disabled={change.isPending}
                  onClick={() => change.mutate(board.filters.filter((_, place) => place !== at))}
                >
                  <X />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
        {changeable && !adding && (
          <Button
            kind="quiet"
            className={classes("print:hidden", board.filters.length === 0 && "-ml-3")}
            onClick={() => setAdding(true)}
          >
            <ListFilter aria-hidden />
            Filter
          </Button>
        )}
      </div>
      {adding && (
        <NewFilter
          board={board}
          pending={change.isPending}
          onAdd={(filter) => change.mutate([...board.filters, filter])}
          onCancel={() => setAdding(false)}
        />
      )}
      {change.error && <ErrorNote error={change.error} />}
    </div>
  );
}

interface NewFilterProps {
  board: Board;
  pending: boolean;
  onAdd: (filter: BoardCondition) => void;
  onCancel: () => void;
}

function NewFilter({ board, pending, onAdd, onCancel }: NewFilterProps) {
  const columns = useColumns(board);
  const [name, setName] = useState("");
  const [chosenOp, setOp] = useState<Op>("=");
  const [value, setValue] = useState("");
  const about = useId();
  const column = columns.find((one) => one.name === name) ?? columns[0];
  const ops = column ? opsFor(column.type) : [];
  const op = ops.includes(chosenOp) ? chosenOp : (ops[0] ?? "=");
  const known = useId();
  const values = useValues(column, takesValue(op));
  const made = column ? conditionOf(column.name, column.type, op, value) : null;
  const sent = (event: FormEvent) => {
    event.preventDefault();
    if (made) onAdd(made);
  };
  return (
    <form onSubmit={sent} aria-label="New filter" className="flex flex-wrap items-center gap-2">
      <Select
        label="Column"
        value={column?.name ?? ""}
        onChange={(event) => setName(event.target.value)}
        className="max-w-full"
      >
        {columns.map((one) => (
          <option key={one.name} value={one.name}>
            {one.name.replaceAll("_", " ")}
          </option>
        ))}
      </Select>
      <Select label="How to compare" value={op} onChange={(event) => setOp(event.target.value as Op)}>
        {ops.map((one) => (
          <option key={one} value={one}>
            {WORDS[one]}
          </option>
        ))}
      </Select>
      {takesValue(op) && (
        <Input
          label="Value"
          aria-describedby={about}
          list={values.length > 0 ? known : undefined}
          placeholder={hint(op, column?.type)}
          value={value}
          onChange={(event) => setValue(event.target.value)}
          className="min-w-40 flex-1 sm:max-w-64"
        />
      )}
      {values.length > 0 && (
        <datalist id={known}>
          {values.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
      <span id={about} className="sr-only">
        {hint(op, column?.type)}
      </span>
      <Button type="submit" kind="primary" disabled={!made || pending}>
        {pending ? "Filtering" : "Apply"}
      </Button>
      <Button onClick={onCancel}>Cancel</Button>
    </form>
  );
}

function hint(op: Op, kind: Column["type"] | undefined): string {
  const one =
    kind === "boolean" ? "yes or no" : kind === "date" || kind === "timestamp" ? "2024-03-31" : "Value";
  if (op === "between") return "Two, with a comma between them";
  return op === "in" || op === "not_in" ? "Several, with commas between them" : one;
}

type Filterable = Pick<Column, "name" | "type"> & { datasetId: string };

/** Of all datasets on the board, each name once, in alphabetical order. */
function useColumns(board: Board): Filterable[] {
  const ids = [...new Set(Object.values(board.questions).map((one) => one.dataset_id))];
  const datasets = useQueries({ queries: ids.map((id) => datasetQuery(id)) });
  const found = new Map<string, Filterable>();
  for (const { data } of datasets)
    for (const table of data?.tables ?? [])
      for (const { name, type } of table.columns)
        if (!found.has(name)) found.set(name, { name, type, datasetId: data?.id ?? "" });
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** The most frequent texts of a column, to choose from. */
function useValues(column: Filterable | undefined, wanted: boolean): string[] {
  const text = column?.type === "text";
  const profile = useQuery({ ...profileQuery(column?.datasetId ?? ""), enabled: wanted && text });
  if (!column || !text) return [];
  const found = (profile.data?.tables ?? []).flatMap((table) => table.columns);
  const values = found.find((one) => one.name === column.name)?.values ?? [];
  return values.slice(0, MOST_VALUES).map(({ value }) => String(value));
}
