import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { datasetsQuery } from "~/api/queries";
import { SearchInput, Select } from "~/ui";
import { type Chosen, STATES } from "./filters";

interface FilterBarProps {
  chosen: Chosen;
  onChange: (chosen: Chosen) => void;
}

const TYPING_MS = 200;

export function FilterBar({ chosen, onChange }: FilterBarProps) {
  const { data: datasets = [] } = useQuery(datasetsQuery());
  const known = datasets.some((dataset) => dataset.id === chosen.dataset);
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <TextFilter text={chosen.text} onChange={(text) => onChange({ ...chosen, text })} />
      <Select
        label="State"
        value={chosen.status}
        onChange={(event) =>
          onChange({ ...chosen, status: STATES.find((one) => one === event.target.value) ?? "" })
        }
      >
        <option value="">All states</option>
        {STATES.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </Select>
      <Select
        label="Dataset"
        value={chosen.dataset}
        onChange={(event) => onChange({ ...chosen, dataset: event.target.value })}
        className="min-w-0 flex-1 sm:flex-none"
      >
        <option value="">All datasets</option>
        {chosen.dataset && !known && <option value={chosen.dataset}>{chosen.dataset}</option>}
        {datasets.map((dataset) => (
          <option key={dataset.id} value={dataset.id}>
            {dataset.title || dataset.id}
          </option>
        ))}
      </Select>
      <label className="flex h-8 w-full cursor-pointer items-center gap-2 text-ink-2 sm:w-auto">
        <input
          type="checkbox"
          checked={chosen.samples}
          onChange={(event) => onChange({ ...chosen, samples: event.target.checked })}
          className="size-4 accent-accent"
        />
        With sample rows
      </label>
    </div>
  );
}

/** Asks once the person has stopped typing. */
function TextFilter({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [draft, setDraft] = useState(text);
  const changed = useEffectEvent(onChange);
  useEffect(() => setDraft((before) => (before.trim() === text ? before : text)), [text]);
  useEffect(() => {
    if (draft.trim() === text) return;
    const timer = setTimeout(() => changed(draft), TYPING_MS);
    return () => clearTimeout(timer);
  }, [draft, text]);
  return (
    <SearchInput
      label="Search runs"
      placeholder="Search questions, plans and SQL"
      maxLength={500}
      value={draft}
      onText={setDraft}
      className="w-full sm:w-72"
    />
  );
}
