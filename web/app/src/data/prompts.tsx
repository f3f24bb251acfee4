import { Link } from "react-router";
import { places } from "~/shell";

/** Questions to begin with. The page of a new question takes `q` as its draft. */
export function Prompts({ datasetId, prompts }: { datasetId: string; prompts: readonly string[] }) {
  return (
    <section aria-label="Questions to begin with">
      <h2 className="mb-2 text-ink-2">Ask about it</h2>
      <ul className="flex flex-wrap gap-2">
        {prompts.map((prompt) => (
          <li key={prompt} className="max-w-full">
            <Link
              to={`${places.ask}?${new URLSearchParams({ dataset: datasetId, q: prompt })}`}
              className="block rounded-md border border-line-strong px-2.5 py-1 transition-colors hover:bg-hover"
            >
              {prompt}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
