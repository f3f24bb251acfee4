// Files that are on their way to the server, and the imports they became: one list for the whole page.
import { useSyncExternalStore } from "react";
import { beginImport } from "~/api/imports";
import type { Import } from "~/api/model";
import { upload } from "~/api/uploading";

export interface Transfer {
  key: number;
  title: string;
  /** In bytes; 0 for what is not a file. */
  total: number;
  sent: number;
  importId: string | null;
  error: unknown;
  /** Whether the dataset is shown when it is ready, to a person who still looks at the list of data. */
  opens: boolean;
  stop: () => void;
}

let transfers: readonly Transfer[] = [];
let nextKey = 1;
const listeners = new Set<() => void>();

function set(next: readonly Transfer[]): void {
  transfers = next;
  for (const listener of listeners) listener();
}

function change(key: number, changes: Partial<Transfer>): void {
  set(transfers.map((one) => (one.key === key ? { ...one, ...changes } : one)));
}

export function dismiss(key: number): void {
  set(transfers.filter((one) => one.key !== key));
}

export function useTransfers(): readonly Transfer[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => transfers,
  );
}

/** Files that are dropped together become the tables of one dataset. */
export function bringFiles(files: readonly File[], datasetId?: string): void {
  if (files.length === 0) return;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  const sent = files.map(() => 0);
  void bring(titleOf(files), total, async (key, signal) => {
    const uploads: string[] = [];
    for (const [index, file] of files.entries()) {
      const onSent = (bytes: number) => {
        sent[index] = bytes;
        change(key, { sent: sent.reduce((sum, one) => sum + one, 0) });
      };
      uploads.push(await upload(file, onSent, signal));
    }
    return beginImport({ uploads, ...(datasetId ? { dataset_id: datasetId } : {}) });
  });
}

export function bringText(text: string, name: string): void {
  void bring(name, 0, () => beginImport({ text, name }));
}

/** An import that was begun elsewhere, such as a corrected reading. */
export function follow(title: string, begin: () => Promise<Import>, opens = false): void {
  void bring(title, 0, begin, opens);
}

type Begin = (key: number, signal: AbortSignal) => Promise<Import>;

async function bring(title: string, total: number, begin: Begin, opens = false): Promise<void> {
  const key = nextKey++;
  const stopping = new AbortController();
  const stop = () => {
    stopping.abort();
    dismiss(key);
  };
  set([...transfers, { key, title, total, sent: 0, importId: null, error: null, opens, stop }]);
  try {
    const made = await begin(key, stopping.signal);
    change(key, { importId: made.id, sent: total });
  } catch (thrown) {
    if (!stopping.signal.aborted) change(key, { error: thrown });
  }
}

function titleOf(files: readonly File[]): string {
  const [first, ...others] = files;
  if (!first) return "";
  return others.length === 0 ? first.name : `${first.name} and ${others.length} more`;
}
