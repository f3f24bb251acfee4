// What is said about one table and its columns.
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Catalog, ColumnMeaning, Table } from "~/api/model";
import { catalogColumn, count, isTemporal } from "~/format";
import { classes } from "~/ui";
import { ColumnPart } from "./column_part";
import { AreaField, ChoiceField, ColumnsField, TextField } from "./fields";
import { Proposal, Proposals } from "./proposal";
import { Section } from "./section";
import { isEdited, NO_EDITS, type TableEdits, tableChanges } from "./stating";
import { dismissal, type Proposed } from "./use_proposals";
import { useEdits, useSaving } from "./use_saving";

interface TablePartProps {
  datasetId: string;
  catalog: Catalog;
  table: Table;
  meanings: readonly ColumnMeaning[];
  proposed: Proposed;
  opened: boolean;
}

export function TablePart({ datasetId, catalog, table, meanings, proposed, opened }: TablePartProps) {
  const [open, setOpen] = useState(opened);
  const [edits, setEdits] = useEdits<TableEdits>(`${datasetId} table ${table.name}`, NO_EDITS);
  const personal = table.columns.filter(
    (column) => !column.masked && meanings.some((one) => one.column === column.name && one.personal),
  );
  return (
    <section aria-label={`Catalog of ${table.name}`} className="rounded-md border">
      <h3>
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className={classes(
            "flex w-full flex-wrap items-baseline gap-x-2 rounded-md px-3 py-2.5 text-left transition-colors hover:bg-hover",
            open && "rounded-b-none border-b bg-panel",
          )}
        >
          <ChevronRight
            aria-hidden
            className={classes("size-4 shrink-0 self-center transition-transform", open && "rotate-90")}
          />
          <span className="font-medium font-mono text-[13px]">{table.name}</span>
          {isEdited(edits) && <span className="text-accent text-small">not saved</span>}
          <span className="ml-auto text-ink-3 text-small">
            {personal.length > 0 && `${personal.length} with personal data · `}
            {count(table.columns.length, "column")}
          </span>
        </button>
      </h3>
      {open && (
        <div className="p-3">
          <TableForm
            datasetId={datasetId}
            catalog={catalog}
            table={table}
            meanings={meanings}
            proposed={proposed}
            edits={edits}
            setEdits={setEdits}
          />
        </div>
      )}
    </section>
  );
}

interface TableFormProps extends Omit<TablePartProps, "opened"> {
  edits: TableEdits;
  setEdits: (edits: TableEdits) => void;
}

function TableForm({ datasetId, catalog, table, meanings, proposed, edits, setEdits }: TableFormProps) {
  const saving = useSaving(datasetId, catalog, () => setEdits(NO_EDITS));
  const shown = catalog.semantics.tables?.[table.name] ?? {};
  const found = catalog.found.tables?.[table.name] ?? {};
  const names = table.columns.map((column) => column.name);
  const edit = (name: string, value: unknown) =>
    setEdits({ ...edits, table: { ...edits.table, [name]: value } });
  const field = (name: "description" | "synonyms" | "time_column") => {
    const text = (value: string | string[] | null | undefined) =>
      Array.isArray(value) ? value.join(", ") : (value ?? "");
    return {
      of: table.name,
      value: String(edits.table[name] ?? text(shown[name])),
      found: text(found[name]),
      onChange: (value: string) => edit(name, value),
    };
  };
  const times = table.columns.filter((column) => isTemporal(catalogColumn(column))).map(({ name }) => name);
  return (
    <Section
      what={`the table ${table.name}`}
      isEdited={isEdited(edits)}
      saving={saving}
      onSave={(note) => saving.save(tableChanges(catalog.stated, catalog.found, table.name, edits), note)}
      onUndo={() => setEdits(NO_EDITS)}
    >
      <MaskProposal table={table.name} proposed={proposed} edits={edits} setEdits={setEdits} />
      <AreaField title="What a row is" {...field("description")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          title="Other words for it"
          hint="As people write them, separated by commas"
          {...field("synonyms")}
        />
        {times.length > 0 && (
          <ChoiceField
            title="Time column"
            hint="What last month is about when a question names no column"
            choices={[
              ...(found.time_column ? [] : [["", "none"] as const]),
              ...times.map((name) => [name, name] as const),
            ]}
            {...field("time_column")}
          />
        )}
      </div>
      <Proposals label={`Proposed key of ${table.name}`}>
        {proposed.proposals.keys
          .filter((one) => one.table === table.name && edits.table.key === undefined && !shown.key?.length)
          .map((one) => (
            <Proposal
              key="key"
              name={`key ${one.columns.join(", ")}`}
              title={
                <>
                  Key <span className="font-mono text-[13px]">{one.columns.join(", ")}</span>
                </>
              }
              reason={one.reason}
              onUse={() => edit("key", one.columns)}
              onDismiss={() => proposed.dismiss(dismissal.key(one))}
            />
          ))}
      </Proposals>
      <ColumnsField
        title="Key"
        of={table.name}
        hint="The columns that together identify a row"
        chosen={(edits.table.key as string[] | undefined) ?? shown.key ?? []}
        columns={names}
        onChange={(key) => edit("key", key)}
      />
      <ul className="divide-y rounded-md border">
        {table.columns.map((column) => (
          <ColumnPart
            key={column.name}
            column={column}
            shown={shown.columns?.[column.name] ?? {}}
            found={found.columns?.[column.name] ?? {}}
            meaning={meanings.find((one) => one.column === column.name)}
            edits={edits.columns[column.name] ?? {}}
            onEdit={(changed) =>
              setEdits({ ...edits, columns: { ...edits.columns, [column.name]: changed } })
            }
          />
        ))}
      </ul>
    </Section>
  );
}

interface MaskProposalProps {
  table: string;
  proposed: Proposed;
  edits: TableEdits;
  setEdits: (edits: TableEdits) => void;
}

/** All columns with personal data together: most people mask all of them. */
function MaskProposal({ table, proposed, edits, setEdits }: MaskProposalProps) {
  const masks = proposed.proposals.masks.filter(
    (one) => one.table === table && edits.columns[one.column]?.masked === undefined,
  );
  const mask = () => {
    const columns = masks.map(({ column }) => [column, { ...edits.columns[column], masked: true }]);
    setEdits({ ...edits, columns: { ...edits.columns, ...Object.fromEntries(columns) } });
  };
  return (
    <Proposals label={`Proposed masks of ${table}`}>
      {masks.length === 0
        ? []
        : [
            <Proposal
              key="masks"
              name={`mask ${masks.map(({ column }) => column).join(", ")}`}
              title={
                <>
                  Mask{" "}
                  <span className="font-mono text-[13px]">
                    {masks.map(({ column }) => column).join(", ")}
                  </span>
                  : no value is given to a model
                </>
              }
              reason={[...new Set(masks.map(({ reason }) => reason))].join("; ")}
              onUse={mask}
              onDismiss={() => proposed.dismiss(...masks.map(dismissal.mask))}
            />,
          ]}
    </Proposals>
  );
}
