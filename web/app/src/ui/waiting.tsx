// What is shown while something is on its way. Nothing is shown for what takes less than 300 ms.
import { type ReactNode, useEffect, useState } from "react";
import { classes } from "./classes";

const PATIENCE_MS = 300;

/** True once something has been waited for so long that a person wonders. */
export function useLate(waiting: boolean, after = PATIENCE_MS): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!waiting) {
      setLate(false);
      return;
    }
    const timer = setTimeout(() => setLate(true), after);
    return () => clearTimeout(timer);
  }, [waiting, after]);
  return waiting && late;
}

export function Late({ children }: { children: ReactNode }) {
  return useLate(true) ? children : null;
}

export function Spinner({ label = "Loading", className }: { label?: string; className?: string }) {
  if (!useLate(true)) return <span className={classes("inline-block size-4", className)} />;
  return (
    <span
      role="status"
      aria-label={label}
      className={classes(
        "inline-block size-4 animate-spin rounded-full border-2 border-line-strong border-t-accent",
        className,
      )}
    />
  );
}

/** Holds the place of what is coming: give it that thing's height. */
export function Skeleton({ className }: { className?: string }) {
  const late = useLate(true);
  return (
    <div aria-hidden className={classes("h-4 rounded", late && "animate-breathe bg-sunken", className)} />
  );
}

export function SkeletonLines({ lines = 4, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="space-y-2">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines have nothing else to be told apart by
        <Skeleton key={line} className={line % 3 === 2 ? "w-2/3" : "w-full"} />
      ))}
    </div>
  );
}
