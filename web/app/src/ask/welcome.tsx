// The page before the first question: which data there is, what it is, and what could be asked of it.
import { Link } from "react-router";
import type { DatasetSummary } from "~/api/model";
import { count, date, number } from "~/format";
import { AddData } from "~/imports/add_data";
import { places } from "~/shell";
import { classes } from "~/ui";
import { Chips } from "./chips";
import { shortVersion } from "./wording";

interface WelcomeProps {
  datasets: readonly DatasetSummary[];
  chosen: DatasetSummary;
  onChoose: (id: string) => void;
}

export function Welcome({ datasets, chosen, onChoose }: WelcomeProps) {
  return (
    <div className="mx-auto w-full max-w-3xl space-y-8 px-4 py-8 sm:py-12">
      <header className="space-y-1">
        <h2 className="text-answer">What would you like to know?</h2>
        <p className="text-ink-2">The answer comes with its rows, its SQL and a proof.</p>
      </header>
      {datasets.length > 1 && (
        <section aria-label="Dataset" className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
          {datasets.map((one) => (
            <DatasetCard key={one.id} dataset={one} chosen={one.id === chosen.id} onChoose={onChoose} />
          ))}
        </section>
      )}
      <section aria-label="Your own data" className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <AddData />
        <p className="text-ink-3 text-small">Or drop a file anywhere to ask about it.</p>
      </section>
      <section className="space-y-3">
        <p className="text-ink-3 text-small">{about(chosen)}</p>
        <Chips label="Questions to begin with" questions={chosen.prompts} datasetId={chosen.id} />
        <p>
          <Link to={places.dataset(chosen.id)} className="text-accent underline underline-offset-2">
            See the tables and columns of {chosen.title || chosen.id}
          </Link>
        </p>
      </section>
    </div>
  );
}

function DatasetCard({ dataset, chosen, onChoose }: CardProps) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={() => onChoose(dataset.id)}
      className={classes(
        "flex flex-col items-start gap-1 rounded-md border p-3 text-left transition-colors hover:bg-hover",
        chosen ? "border-accent bg-accent-soft hover:bg-accent-soft" : "border-line-strong",
      )}
    >
      <span className="font-medium">{dataset.title || dataset.id}</span>
      <span className="line-clamp-6 text-ink-2 text-small">{dataset.description}</span>
    </button>
  );
}

interface CardProps {
  dataset: DatasetSummary;
  chosen: boolean;
  onChoose: (id: string) => void;
}

/** One line on what the data is. */
export function about(dataset: DatasetSummary, locale?: string): string {
  const rows = dataset.tables.reduce((sum, table) => sum + (table.rows ?? 0), 0);
  const parts = [
    `${count(dataset.tables.length, "table")} with ${number(rows, { locale })} rows`,
    dataset.as_of ? `as of ${date(dataset.as_of, { locale }).text}` : "",
    `version ${shortVersion(dataset.version)}`,
  ];
  return parts.filter(Boolean).join(" · ");
}
