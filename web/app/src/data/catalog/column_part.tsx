// What is said about one column: in one line, and as a form when it is opened.
import { ChevronRight, EyeOff } from "lucide-react";
import { useState } from "react";
import type { Column, ColumnMeaning, ColumnSemantics, Meaning } from "~/api/model";
import { catalogColumn, isNumeric } from "~/format";
import { Button, classes } from "~/ui";
import { AreaField, ChoiceField, TextField } from "./fields";
import type { Edits } from "./stating";

const AGGREGATES = [
  ["sum", "added"],
  ["average", "averaged"],
  ["none", "neither: it is a number of a thing"],
] as const;

const ENDS = [
  ["high", "high"],
  ["low", "low"],
] as const;

const MEANINGS: Readonly<Record<Meaning, string>> = {
  money: "money",
  percent: "percent",
  duration: "a duration",
  amount: "an amount",
  score: "a score or a rate",
  date: "a date",
  time: "a time of day",
  identifier: "an identifier",
  category: "a category",
  "yes/no": "yes or no",
  place: "a place",
  person: "a person",
  "e-mail": "an e-mail address",
  phone: "a phone number",
  "web address": "a web address",
  text: "text",
};

interface ColumnPartProps {
  column: Column;
  shown: ColumnSemantics;
  found: ColumnSemantics;
  meaning: ColumnMeaning | undefined;
  edits: Edits;
  onEdit: (edits: Edits) => void;
}

export function ColumnPart({ column, shown, found, meaning, edits, onEdit }: ColumnPartProps) {
  const [open, setOpen] = useState(false);
  const masked = Boolean(edits.masked ?? shown.masked);
  const isEdited = Object.keys(edits).length > 0;
  const mask = (on: boolean) => onEdit({ ...edits, masked: on });
  return (
    <li>
      <div className="flex flex-wrap items-center gap-x-3 hover:bg-hover">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-w-0 flex-1 items-baseline gap-2 px-3 py-2 text-left"
        >
          <ChevronRight
            aria-hidden
            className={classes(
              "size-4 shrink-0 self-center text-ink-3 transition-transform",
              open && "rotate-90",
            )}
          />
          <span className="min-w-0">
            <span className="break-words font-mono text-[13px]">{column.name}</span>{" "}
            {isEdited && <span className="text-accent text-small">not saved</span>}
            <span className="block text-ink-3 text-small">{lineOf(column, shown)}</span>
          </span>
        </button>
        {masked && (
          <span className="mr-3 inline-flex items-center gap-1 text-ink-2 text-small">
            <EyeOff aria-hidden className="size-4" />
            masked
          </span>
        )}
        {!masked && meaning?.personal && (
          <span className="flex flex-wrap items-center gap-2 px-3 pb-2 pl-9 text-small sm:py-2 sm:pl-0">
            <span className="text-warning">Personal data: {meaning.why}</span>
            <Button size="small" onClick={() => mask(true)} aria-label={`Mask it: ${column.name}`}>
              Mask it
            </Button>
          </span>
        )}
      </div>
      {open && (
        <ColumnForm
          column={column}
          shown={shown}
          found={found}
          meaning={meaning}
          edits={edits}
          onEdit={onEdit}
        />
      )}
    </li>
  );
}

function ColumnForm({ column, shown, found, meaning, edits, onEdit }: ColumnPartProps) {
  const field = (name: Exclude<keyof ColumnSemantics, "masked">) => {
    const text = (value: string | string[] | null | undefined) =>
      Array.isArray(value) ? value.join(", ") : (value ?? "");
    return {
      of: column.name,
      value: String(edits[name] ?? text(shown[name])),
      found: text(found[name]),
      onChange: (value: string) => onEdit({ ...edits, [name]: value }),
    };
  };
  const numeric = isNumeric(catalogColumn(column));
  const proposed = meaning && !shown.meaning ? `as it seems: ${MEANINGS[meaning.meaning]}` : "as it seems";
  return (
    <div className="space-y-4 bg-panel px-3 pt-2 pb-4 sm:pl-9">
      <AreaField title="Description" {...field("description")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          title="Other words for it"
          hint="As people write them, separated by commas"
          {...field("synonyms")}
        />
        {numeric && <TextField title="Unit" hint="Such as EUR, %, minutes" {...field("unit")} />}
        <ChoiceField
          title="Meaning"
          choices={[...(found.meaning ? [] : [["", proposed] as const]), ...Object.entries(MEANINGS)]}
          {...field("meaning")}
        />
        {numeric && (
          <>
            <ChoiceField
              title="Its numbers are"
              choices={[...(found.aggregate ? [] : [["", "as its name says"] as const]), ...AGGREGATES]}
              {...field("aggregate")}
            />
            <ChoiceField
              title="Good values are"
              choices={[...(found.better ? [] : [["", "not said"] as const]), ...ENDS]}
              {...field("better")}
            />
          </>
        )}
      </div>
      <label className="flex cursor-pointer items-start gap-2">
        <input
          type="checkbox"
          className="mt-1"
          checked={Boolean(edits.masked ?? shown.masked)}
          onChange={(event) => onEdit({ ...edits, masked: event.target.checked })}
        />
        <span>
          Mask {column.name}
          <span className="block text-ink-3 text-small">
            No value of it is given to a model. It can still be filtered, joined and grouped by.
          </span>
        </span>
      </label>
    </div>
  );
}

/** `decimal · EUR · also turnover · what was paid`. */
function lineOf(column: Column, shown: ColumnSemantics): string {
  const parts = [
    column.type,
    shown.unit,
    shown.meaning && MEANINGS[shown.meaning],
    shown.synonyms?.length && `also ${shown.synonyms.join(", ")}`,
    shown.description,
  ];
  return parts.filter(Boolean).join(" · ");
}
