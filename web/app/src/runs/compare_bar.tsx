import { Link } from "react-router";
import type { RunView } from "~/api/model";
import { places } from "~/shell";
import { Button } from "~/ui";
import { titleOf } from "./run_words";

/** Stays at the foot of the list while runs are chosen. */
export function CompareBar({ picked, onClear }: { picked: readonly RunView[]; onClear: () => void }) {
  const [first, second] = picked;
  if (!first) return null;
  return (
    <section
      aria-label="Chosen runs"
      className="sticky bottom-0 -mx-4 mt-4 flex flex-wrap items-center gap-3 border-t bg-page px-4 py-3 md:-mx-6 md:px-6"
    >
      <p role="status" className="min-w-0 flex-1 truncate text-ink-2">
        {second
          ? `${titleOf(first).text} · ${titleOf(second).text}`
          : "Choose another run to compare it with"}
      </p>
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
      {second ? (
        <Link
          to={places.compare(first.run_id, second.run_id)}
          className="inline-flex h-8 items-center rounded-md bg-accent px-3 text-accent-ink transition-colors hover:bg-accent-hover"
        >
          Compare
        </Link>
      ) : (
        <Button disabled>Compare</Button>
      )}
    </section>
  );
}
