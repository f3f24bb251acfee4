import { Play, RotateCcw } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { Button, ErrorNote, Spinner, Tooltip } from "~/ui";

interface RerunBarProps {
  /** Where the focus goes when a person leaves the editor. */
  place: RefObject<HTMLDivElement | null>;
  onRun: () => void;
  onReset: () => void;
  mayRun: boolean;
  edited: boolean;
  running: boolean;
  error: unknown;
  children?: ReactNode;
}

export function RerunBar({ place, onRun, onReset, mayRun, edited, running, error, children }: RerunBarProps) {
  return (
    <>
      <div ref={place} tabIndex={-1} className="flex flex-wrap items-center gap-2 outline-none">
        <Tooltip text="Run again" keys="mod+enter">
          <Button kind="primary" onClick={onRun} disabled={!mayRun || running}>
            <Play aria-hidden />
            Run again
          </Button>
        </Tooltip>
        <Button onClick={onReset} disabled={!edited || running}>
          <RotateCcw aria-hidden />
          Reset
        </Button>
        {running && <Spinner label="Running" />}
        {children}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </>
  );
}
