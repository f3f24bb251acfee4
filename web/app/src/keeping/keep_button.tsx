import { Bookmark } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Button, IconButton } from "~/ui";

const KeepDialog = lazy(() => import("./keep_dialog"));

interface KeepButtonProps {
  runId: string;
  /** What it is called unless the person says otherwise. */
  name: string;
  /** An icon alone, where a row of icons stands. */
  small?: boolean;
}

/** Keeps an answer under a name, and puts it on a board. */
export function KeepButton({ runId, name, small = false }: KeepButtonProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      {small ? (
        <IconButton label="Keep" size="smallIcon" onClick={() => setOpen(true)}>
          <Bookmark />
        </IconButton>
      ) : (
        <Button kind="quiet" aria-label="Keep" onClick={() => setOpen(true)}>
          <Bookmark aria-hidden />
          <span className="hidden sm:inline">Keep</span>
        </Button>
      )}
      {open && (
        <Suspense fallback={null}>
          <KeepDialog runId={runId} name={name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
