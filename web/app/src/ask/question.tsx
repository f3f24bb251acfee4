// One question, and the form that edits it.
import { ActionBarPrimitive, ComposerPrimitive, MessagePrimitive, useAuiState } from "@assistant-ui/react";
import { Pencil } from "lucide-react";
import { Button, IconButton } from "~/ui";
import { Branches } from "./branches";
import type { CarriedByQuestion } from "./messages";

export function QuestionMessage() {
  const text = useAuiState((state) => {
    const [part] = state.message.content;
    return part?.type === "text" ? part.text : "";
  });
  const chosen = useAuiState((state) => (state.message.metadata.custom as Partial<CarriedByQuestion>).chosen);
  const editing = useAuiState((state) => state.message.composer.isEditing);
  return (
    <MessagePrimitive.Root data-question="" className="mx-auto w-full max-w-3xl scroll-mt-2 px-4 pt-4 pb-3">
      {editing ? (
        <EditQuestion />
      ) : (
        <div className="group/question flex items-start gap-2">
          <h2 className="min-w-0 whitespace-pre-wrap break-words rounded-lg bg-sunken px-3 py-2 font-medium text-ink">
            {text}
          </h2>
          <div className="flex shrink-0 items-center pt-0.5 text-ink-3">
            <Branches of="question" />
            {!chosen && <EditButton />}
          </div>
        </div>
      )}
    </MessagePrimitive.Root>
  );
}

function EditButton() {
  return (
    <ActionBarPrimitive.Edit asChild>
      <IconButton
        label="Edit question"
        keys="e"
        size="smallIcon"
        className="opacity-0 transition-opacity focus-visible:opacity-100 group-hover/question:opacity-100 disabled:opacity-0 pointer-coarse:opacity-100"
      >
        <Pencil />
      </IconButton>
    </ActionBarPrimitive.Edit>
  );
}

function EditQuestion() {
  return (
    <ComposerPrimitive.Root className="rounded-lg border border-control bg-page p-2">
      <ComposerPrimitive.Input
        aria-label="Edit question"
        autoFocus
        maxRows={6}
        className="w-full resize-none bg-transparent px-1 py-1 outline-none"
      />
      <div className="flex justify-end gap-2">
        <ComposerPrimitive.Cancel asChild>
          <Button size="small">Cancel</Button>
        </ComposerPrimitive.Cancel>
        <ComposerPrimitive.Send asChild>
          <Button size="small" kind="primary">
            Ask
          </Button>
        </ComposerPrimitive.Send>
      </div>
    </ComposerPrimitive.Root>
  );
}
