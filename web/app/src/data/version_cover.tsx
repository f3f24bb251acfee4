import type { Dataset } from "~/api/model";
import { Copy } from "~/ui";
import { shortDigest } from "./version";

/** What the version is made of, so that a person can tell what a change of it means. */
export function VersionCover({ dataset, live }: { dataset: Dataset; live: boolean }) {
  return (
    <div className="space-y-4">
      <div className="flex items-start gap-2">
        <code className="break-all font-mono text-[13px] leading-7">{dataset.version}</code>
        <Copy text={dataset.version} label="Copy the version" />
      </div>
      <p className="max-w-prose text-ink-2">
        {live
          ? "It covers the tables below and the names, order and types of their columns. The rows stay in the database, and no version covers them."
          : "It covers every byte of the files below, and the names, order and types of the columns. Any change of those gives another version."}{" "}
        Descriptions, metrics and suggested questions are not part of it. Each run names the version it read.
      </p>
      <ul className="divide-y rounded-md border">
        {dataset.tables.map((table) => (
          <li key={table.name} className="flex flex-wrap items-center gap-x-4 px-3 py-1.5">
            <span className="w-40 truncate font-mono text-[13px]">{table.name}</span>
            <span className="min-w-0 flex-1 truncate text-ink-2">{table.file}</span>
            <span className="inline-flex items-center gap-1 text-ink-3">
              <code className="font-mono text-[13px]" title={table.sha256}>
                {shortDigest(table.sha256)}
              </code>
              <Copy text={table.sha256} label={`Copy the SHA-256 of ${table.file}`} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
