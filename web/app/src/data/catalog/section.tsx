import { type FormEvent, type ReactNode, useState } from "react";
import { problemOf } from "~/api/problem";
import { Button, CodeWords, ErrorNote, Input } from "~/ui";
import type { Saving } from "./use_saving";

interface SectionProps {
  /** What is saved, such as `the table sales`. */
  what: string;
  isEdited: boolean;
  saving: Saving;
  onSave: (note: string) => void;
  onUndo: () => void;
  children: ReactNode;
}

/** One part that is saved by itself. */
export function Section({ what, isEdited, saving, onSave, onUndo, children }: SectionProps) {
  const [note, setNote] = useState("");
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (!isEdited || saving.isPending) return;
    onSave(note.trim());
    setNote("");
  };
  return (
    // What the focus comes to is scrolled above the bar, which covers the end of the window.
    <form
      aria-label={`Catalog of ${what}`}
      onSubmit={save}
      className="space-y-4 [&_:is(input,select,textarea,button)]:scroll-mb-20"
    >
      {children}
      {isEdited && (
        <div className="sticky bottom-2 z-10 space-y-3 rounded-md border border-line-strong bg-panel p-3">
          {saving.error !== null && <Refused saving={saving} />}
          <div className="flex flex-wrap items-center gap-2">
            <Button kind="primary" type="submit" disabled={saving.isPending} aria-label={`Save ${what}`}>
              Save
            </Button>
            <Button disabled={saving.isPending} onClick={onUndo} aria-label={`Undo the changes of ${what}`}>
              Undo
            </Button>
            <Input
              label={`Why ${what} is changed (optional)`}
              placeholder="Why? (optional)"
              value={note}
              maxLength={400}
              onChange={(event) => setNote(event.target.value)}
              className="min-w-40 flex-1"
            />
          </div>
        </div>
      )}
    </form>
  );
}

function Refused({ saving }: { saving: Saving }) {
  const { details } = problemOf(saving.error);
  const problems = Array.isArray(details.problems) ? details.problems.map(String) : [];
  return (
    <ErrorNote error={saving.error}>
      {problems.length > 1 && (
        <ul className="w-full list-disc space-y-0.5 pl-5">
          {problems.map((problem) => (
            <li key={problem}>
              <CodeWords text={problem} />
            </li>
          ))}
        </ul>
      )}
      {typeof details.catalog_version === "string" && (
        <Button size="small" onClick={saving.reload}>
          Load it again
        </Button>
      )}
    </ErrorNote>
  );
}
