// The catalog as a file: downloaded, and chosen again. What a file changes is shown before it is used.
import { useMutation } from "@tanstack/react-query";
import { type ChangeEvent, useRef, useState } from "react";
import { catalogFileAddress, importCatalog } from "~/api/catalog";
import type { Catalog, ImportedCatalog } from "~/api/model";
import { count } from "~/format";
import { Button, ErrorNote } from "~/ui";
import { useReloading } from "./use_saving";

const MOST_SHOWN = 40;

interface Chosen {
  name: string;
  content: string;
  found: ImportedCatalog;
}

export function FilePart({ datasetId, catalog }: { datasetId: string; catalog: Catalog }) {
  const input = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState<Chosen>();
  const reload = useReloading(datasetId);
  const send = (content: string, dry_run: boolean) =>
    importCatalog(datasetId, content, { before: catalog.catalog_version, dry_run });
  const looking = useMutation({
    mutationFn: async (file: File) => {
      const content = await file.text();
      return { name: file.name, content, found: await send(content, true) };
    },
    onSuccess: setChosen,
  });
  const using = useMutation({
    mutationFn: ({ content }: Chosen) => send(content, false),
    onSuccess: () => {
      setChosen(undefined);
      return reload();
    },
  });
  const choose = (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? [];
    // The same file can be chosen again after it was corrected.
    event.target.value = "";
    setChosen(undefined);
    using.reset();
    if (file) looking.mutate(file);
  };
  return (
    <section aria-label="The catalog as a file" className="space-y-3">
      <h2 className="font-medium">As a file</h2>
      <p className="max-w-prose text-ink-2">
        <a href={catalogFileAddress(datasetId)} download className="text-accent underline">
          Download it as a file
        </a>{" "}
        to review it or to use it elsewhere. A file of this form, a model of Apache Ossie, or a semantic
        manifest of dbt can be used here.
      </p>
      <input
        ref={input}
        type="file"
        accept=".yaml,.yml,.json"
        aria-label="A catalog file"
        className="sr-only"
        tabIndex={-1}
        onChange={choose}
      />
      <Button disabled={looking.isPending} onClick={() => input.current?.click()}>
        Choose a file
      </Button>
      {looking.error && <ErrorNote error={looking.error} />}
      {chosen && (
        <div className="space-y-3 rounded-md border border-line-strong bg-panel p-3">
          <Found chosen={chosen} />
          {using.error && <ErrorNote error={using.error} />}
          <div className="flex flex-wrap gap-2">
            <Button
              kind="primary"
              disabled={using.isPending || chosen.found.changes.length === 0}
              onClick={() => using.mutate(chosen)}
            >
              Use this file
            </Button>
            <Button disabled={using.isPending} onClick={() => setChosen(undefined)}>
              Leave it
            </Button>
          </div>
        </div>
      )}
      {(catalog.stated.unused ?? []).length > 0 && !chosen && (
        <Unused title="Kept from an imported file, and not used" parts={catalog.stated.unused ?? []} />
      )}
    </section>
  );
}

function Found({ chosen: { name, found } }: { chosen: Chosen }) {
  return (
    <>
      <p>
        <span className="break-words font-mono text-[13px]">{name}</span>{" "}
        {found.changes.length === 0 ? "changes nothing." : `changes ${count(found.changes.length, "part")}:`}
      </p>
      {found.changes.length > 0 && (
        <ul aria-label="What the file changes" className="divide-y rounded-md border text-small">
          {found.changes.slice(0, MOST_SHOWN).map(({ place, before, after }) => (
            <li key={place} className="grid gap-x-4 px-3 py-1.5 sm:grid-cols-2">
              <span className="break-words font-mono text-[13px]">{place}</span>
              <span className="min-w-0 break-words">
                <del className="text-ink-3">{shown(before)}</del>{" "}
                <ins className="no-underline">{shown(after)}</ins>
              </span>
            </li>
          ))}
        </ul>
      )}
      {found.changes.length > MOST_SHOWN && (
        <p className="text-ink-3 text-small">and {found.changes.length - MOST_SHOWN} more</p>
      )}
      {found.unused.length > 0 && <Unused title="Not used" parts={found.unused} />}
    </>
  );
}

function Unused({ title, parts }: { title: string; parts: ImportedCatalog["unused"] }) {
  return (
    <details className="text-small">
      <summary className="cursor-pointer">
        {title}: {count(parts.length, "part")}
      </summary>
      <ul className="mt-1 list-disc space-y-0.5 pl-5">
        {parts.slice(0, MOST_SHOWN).map(({ kind, name, reason }) => (
          <li key={`${kind} ${name}`} className="break-words">
            {kind} <span className="font-mono">{name}</span>: {reason}
          </li>
        ))}
        {parts.length > MOST_SHOWN && <li>and {parts.length - MOST_SHOWN} more</li>}
      </ul>
    </details>
  );
}

const shown = (value: unknown): string => {
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
};
