import { Plus, X } from "lucide-react";
import { useState } from "react";
import type { Catalog, Dataset, JoinSemantics } from "~/api/model";
import { Button, IconButton, Select } from "~/ui";
import { Proposal, Proposals } from "./proposal";
import { Section } from "./section";
import { adding, joinsChanges, type ListEdits, listWith, removing } from "./stating";
import { dismissal, type Proposed } from "./use_proposals";
import { useEdits, useSaving } from "./use_saving";

const NOTHING: ListEdits<JoinSemantics> = { added: {}, removed: [] };

interface JoinsPartProps {
  dataset: Dataset;
  catalog: Catalog;
  proposed: Proposed;
}

export function JoinsPart({ dataset, catalog, proposed }: JoinsPartProps) {
  const [edits, setEdits] = useEdits(`${dataset.id} joins`, NOTHING);
  const saving = useSaving(dataset.id, catalog, () => setEdits(NOTHING));
  const known = (catalog.semantics.joins ?? []).map((join) => [nameOf(join), join] as const);
  const named = listWith(Object.fromEntries(known), edits);
  const joins = Object.values(named);
  return (
    <Section
      what="the joins"
      isEdited={edits !== NOTHING}
      saving={saving}
      onSave={(note) => saving.save(joinsChanges(catalog.stated, catalog.found, joins), note)}
      onUndo={() => setEdits(NOTHING)}
    >
      <h2 className="font-medium">Joins</h2>
      <Proposals label="Proposed joins">
        {proposed.proposals.joins
          .filter((one) => !Object.hasOwn(named, nameOf(one)))
          .map((one) => (
            <Proposal
              key={nameOf(one)}
              name={nameOf(one)}
              title={<span className="font-mono text-[13px]">{nameOf(one)}</span>}
              reason={one.reason}
              onUse={() => setEdits(adding(edits, nameOf(one), { many: one.many, one: one.one }))}
              onDismiss={() => proposed.dismiss(dismissal.join(one))}
            />
          ))}
      </Proposals>
      {joins.length === 0 && <p className="text-ink-2">No table refers to another one.</p>}
      {joins.length > 0 && (
        <ul className="divide-y rounded-md border">
          {joins.map((join) => (
            <li key={nameOf(join)} className="flex items-center gap-2 py-1 pr-1 pl-3">
              <span className="min-w-0 flex-1 break-words font-mono text-[13px]">
                {join.many} → {join.one}
              </span>
              <IconButton
                size="smallIcon"
                label={`Remove the join ${nameOf(join)}`}
                onClick={() => setEdits(removing(edits, nameOf(join)))}
              >
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <NewJoin dataset={dataset} onAdd={(join) => setEdits(adding(edits, nameOf(join), join))} />
    </Section>
  );
}

function NewJoin({ dataset, onAdd }: { dataset: Dataset; onAdd: (join: JoinSemantics) => void }) {
  const [many, setMany] = useState("");
  const [one, setOne] = useState("");
  const add = () => {
    onAdd({ many, one });
    setMany("");
    setOne("");
  };
  const from = dataset.tables.find((table) =>
    table.columns.some((column) => many === `${table.name}.${column.name}`),
  );
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span>Many rows with the same</span>
      <ColumnSelect label="Column that refers" tables={dataset.tables} value={many} onChange={setMany} />
      <span>belong to the one with this</span>
      <ColumnSelect
        label="Column that is referred to"
        tables={dataset.tables.filter((table) => table !== from)}
        value={one}
        onChange={setOne}
      />
      <Button disabled={!many || !one} onClick={add}>
        <Plus aria-hidden />
        Add the join
      </Button>
    </div>
  );
}

interface ColumnSelectProps {
  label: string;
  tables: Dataset["tables"];
  value: string;
  onChange: (place: string) => void;
}

function ColumnSelect({ label, tables, value, onChange }: ColumnSelectProps) {
  return (
    <Select
      label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className="max-w-full"
    >
      <option value="">Choose a column</option>
      {tables.map((table) => (
        <optgroup key={table.name} label={table.name}>
          {table.columns.map((column) => (
            <option key={column.name} value={`${table.name}.${column.name}`}>
              {table.name}.{column.name}
            </option>
          ))}
        </optgroup>
      ))}
    </Select>
  );
}

const nameOf = ({ many, one }: JoinSemantics) => `${many} → ${one}`;
