import type { Catalog } from "~/api/model";
import { time } from "~/format";
import { Button, ErrorNote } from "~/ui";
import { shortDigest } from "../version";
import { useRestoring } from "./use_saving";

interface Line {
  /** How many are older. Two editions may say the same, and so have one version. */
  older: number;
  version: string;
  text: string;
  detail: string;
}

/** The editions, the newest first, down to what the data themselves show. */
export function History({ datasetId, catalog }: { datasetId: string; catalog: Catalog }) {
  const restoring = useRestoring(datasetId, catalog);
  const lines: Line[] = [
    ...catalog.editions.map(({ version, at, by, note }, index) => ({
      older: catalog.editions.length - index,
      version,
      text: [time(at).text, isName(by) && by].filter(Boolean).join(" · "),
      detail: note,
    })),
    { older: 0, version: catalog.found_version, text: "as the data show it", detail: "" },
  ];
  return (
    <section aria-label="History of the catalog" className="space-y-2">
      <h2 className="font-medium">History</h2>
      {restoring.error && <ErrorNote error={restoring.error} />}
      <ul className="divide-y rounded-md border">
        {lines.map((line, index) => (
          <li key={line.older} className="flex min-h-10 items-center gap-3 px-3 py-1.5">
            <span className="min-w-0 flex-1">
              <span className="flex flex-wrap gap-x-4">
                <code className="font-mono text-[13px]" title={line.version}>
                  {shortDigest(line.version)}
                </code>
                <span className="text-ink-3">{line.text}</span>
              </span>
              {line.detail && <span className="block break-words text-ink-2 text-small">{line.detail}</span>}
            </span>
            {index === 0 && <span className="text-good text-small">current</span>}
            {index > 0 && line.version !== catalog.catalog_version && (
              <Button
                size="small"
                disabled={restoring.isPending}
                onClick={() => restoring.mutate(line.version)}
                aria-label={`Use again: version ${shortDigest(line.version)}`}
              >
                Use again
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A person without a name goes by an address, which begins with this sign. */
const isName = (by: string) => by !== "" && !by.startsWith("@");
