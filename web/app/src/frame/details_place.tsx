// Where the details panel is: beside the page on wide windows, with a handle to resize it; a sheet below else.
import { type KeyboardEvent, lazy, type PointerEvent, type ReactNode, Suspense, useState } from "react";
import { Boundary } from "~/shell/boundary";
import type { Details } from "~/shell/details";
import { DETAILS_STAND, useWide } from "~/shell/media";
import { Sheet, SkeletonLines } from "~/ui";

const DetailsPanel = lazy(() => import("~/details/panel"));

const LEAST = 320;
const MOST = 760;
const KEY = "sandtable.details.width";

export function DetailsPlace({ details }: { details: Details }) {
  const beside = useWide(DETAILS_STAND);
  const { runId, close } = details;
  if (!runId) return null;
  const panel = (
    <Boundary resetKey={runId}>
      <Suspense fallback={<Coming />}>
        <DetailsPanel key={runId} runId={runId} onClose={close} />
      </Suspense>
    </Boundary>
  );
  if (beside) return <Beside>{panel}</Beside>;
  return (
    <Sheet open onOpenChange={(open) => !open && close()} title="Details" side="bottom">
      {panel}
    </Sheet>
  );
}

const Coming = () => (
  <div className="p-4">
    <SkeletonLines lines={6} label="Loading details" />
  </div>
);

function Beside({ children }: { children: ReactNode }) {
  const [width, setWidth] = useState(keptWidth);
  const change = (wanted: number) => {
    const next = Math.round(Math.min(Math.max(wanted, LEAST), Math.min(MOST, window.innerWidth * 0.55)));
    setWidth(next);
    keepWidth(next);
  };
  const drag = (event: PointerEvent<HTMLElement>) => {
    if (event.buttons === 1) change(window.innerWidth - event.clientX);
  };
  const step = (event: KeyboardEvent) => {
    if (event.key === "ArrowLeft") change(width + 24);
    if (event.key === "ArrowRight") change(width - 24);
  };
  return (
    <aside
      aria-label="Details"
      className="relative flex shrink-0 flex-col border-l bg-page"
      style={{ width }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: an hr cannot be dragged or focused */}
      <div
        role="separator"
        aria-label="Width of the details"
        aria-orientation="vertical"
        aria-valuenow={width}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        tabIndex={0}
        onKeyDown={step}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        className="-left-1 absolute inset-y-0 z-10 w-2 cursor-col-resize transition-colors hover:bg-accent/30"
      />
      {children}
    </aside>
  );
}

function keptWidth(): number {
  try {
    return Number(localStorage.getItem(KEY)) || 420;
  } catch {
    // Storage may be forbidden.
    return 420;
  }
}

function keepWidth(width: number): void {
  try {
    localStorage.setItem(KEY, String(width));
  } catch {
    // It then holds until the page is left.
  }
}
