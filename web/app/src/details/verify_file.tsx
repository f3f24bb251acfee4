// A capsule from a file, dropped or chosen: the server says which of its links hold.
import { useMutation } from "@tanstack/react-query";
import { FileCheck } from "lucide-react";
import { type DragEvent, useId, useState } from "react";
import { Problem } from "~/api/problem";
import { verifyEnvelope } from "~/api/rest";
import { bytes } from "~/format";
import { classes, ErrorNote, Spinner } from "~/ui";
import { Section } from "./facts";
import { ReportList } from "./report_list";

const LARGEST = 16 << 20;

export function VerifyFile() {
  const id = useId();
  const [over, setOver] = useState(false);
  const verified = useMutation({ mutationFn: verifyFile });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) verified.mutate(file);
  };
  return (
    <Section title="Verify a file">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping has its own way by keyboard, the field inside */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        className={classes(
          "rounded-md border border-control border-dashed focus-within:outline-2 focus-within:outline-accent",
          over && "bg-accent-soft",
        )}
      >
        <label htmlFor={id} className="flex cursor-pointer items-center gap-3 p-3 text-ink-2 hover:text-ink">
          <FileCheck aria-hidden className="size-4 shrink-0" />
          <span>Drop a capsule here, or choose a file</span>
          {verified.isPending && <Spinner label="Verifying" />}
        </label>
        <input
          id={id}
          type="file"
          accept="application/json,.json"
          className="sr-only"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) verified.mutate(file);
            // So that the same file can be chosen again.
            event.currentTarget.value = "";
          }}
        />
      </div>
      {verified.error && <ErrorNote error={verified.error} />}
      {verified.data && (
        <>
          <p className="break-words text-ink-2">{verified.variables.name}</p>
          <ReportList report={verified.data} />
        </>
      )}
    </Section>
  );
}

async function verifyFile(file: File) {
  if (file.size > LARGEST) {
    const message = `The file has ${bytes(file.size)}, more than ${bytes(LARGEST)}.`;
    throw new Problem({ code: "VALIDATION_ERROR", message, suggestion: "Choose the capsule itself." });
  }
  let envelope: unknown;
  try {
    envelope = JSON.parse(await file.text());
  } catch {
    const suggestion = "Choose a file that was saved with Download capsule.";
    throw new Problem({
      code: "VALIDATION_ERROR",
      message: `${file.name} is not a capsule: it is no JSON.`,
      suggestion,
    });
  }
  return verifyEnvelope(envelope);
}
