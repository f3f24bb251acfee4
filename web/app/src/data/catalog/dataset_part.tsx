import type { Catalog } from "~/api/model";
import { AreaField, ChoiceField, TextField } from "./fields";
import { Section } from "./section";
import { datasetChanges, type Edits } from "./stating";
import { useEdits, useSaving } from "./use_saving";

const WEEK_STARTS = [
  ["monday", "Monday"],
  ["sunday", "Sunday"],
  ["saturday", "Saturday"],
] as const;

const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
].map((month) => [month, month.charAt(0).toUpperCase() + month.slice(1)] as const);

const NOTHING: Edits = {};

export function DatasetPart({ datasetId, catalog }: { datasetId: string; catalog: Catalog }) {
  const [edits, setEdits] = useEdits<Edits>(`${datasetId} dataset`, NOTHING);
  const saving = useSaving(datasetId, catalog, () => setEdits(NOTHING));
  const { semantics, found, stated } = catalog;
  const field = (name: "title" | "description" | "week_start" | "fiscal_year_start") => ({
    of: "the dataset",
    value: String(edits[name] ?? semantics[name] ?? ""),
    found: found[name] ?? "",
    onChange: (value: string) => setEdits({ ...edits, [name]: value }),
  });
  return (
    <Section
      what="the dataset"
      isEdited={edits !== NOTHING}
      saving={saving}
      onSave={(note) => saving.save(datasetChanges(stated, found, edits), note)}
      onUndo={() => setEdits(NOTHING)}
    >
      <h2 className="font-medium">Dataset</h2>
      <TextField title="Title" {...field("title")} />
      <AreaField title="Description" {...field("description")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <ChoiceField title="Weeks begin on" choices={WEEK_STARTS} {...field("week_start")} />
        <ChoiceField
          title="The fiscal year begins in"
          choices={found.fiscal_year_start ? MONTHS : [["", "not said"], ...MONTHS]}
          {...field("fiscal_year_start")}
        />
      </div>
      <AreaField
        title="Questions to begin with"
        hint="One on each line. Without any, questions are proposed."
        of="the dataset"
        value={String(edits.questions ?? (semantics.questions ?? []).join("\n"))}
        onChange={(value) => setEdits({ ...edits, questions: value })}
      />
    </Section>
  );
}
