import { ClipboardPaste, FilePlus } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { Button, Dialog, Input } from "~/ui";
import { bringFiles, bringText } from "./transfers";

/** Choose files, or paste a table; files can also be dropped on any page. `children`: other ways. */
export function AddData({ datasetId, children }: { datasetId?: string; children?: ReactNode }) {
  const chooser = useRef<HTMLInputElement>(null);
  const [pasting, setPasting] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button kind="primary" onClick={() => chooser.current?.click()}>
        <FilePlus aria-hidden />
        {datasetId ? "Add a table" : "Add data"}
      </Button>
      {!datasetId && (
        <Button onClick={() => setPasting(true)}>
          <ClipboardPaste aria-hidden />
          Paste a table
        </Button>
      )}
      {children}
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Files to add"
        onChange={(event) => {
          bringFiles([...(event.target.files ?? [])], datasetId);
          event.target.value = "";
        }}
      />
      <PasteDialog open={pasting} onOpenChange={setPasting} />
    </div>
  );
}

function PasteDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  const bring = () => {
    bringText(text, name.trim() || "pasted");
    setText("");
    setName("");
    onOpenChange(false);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Paste a table"
      description="The first line names the columns. Cells are separated by tabs, commas or semicolons."
    >
      <div className="space-y-3">
        <Input
          label="Name of the table"
          placeholder="Name"
          value={name}
          onChange={(event) => setName(event.target.value)}
          className="w-full"
        />
        <textarea
          aria-label="The table"
          value={text}
          onChange={(event) => setText(event.target.value)}
          rows={10}
          className="w-full rounded-md border border-control bg-page p-2 font-mono text-[13px]"
        />
        <Button kind="primary" disabled={text.trim() === ""} onClick={bring}>
          Use this table
        </Button>
      </div>
    </Dialog>
  );
}
