import type { RunStatus } from "~/api/model";
import { classes } from "./classes";

const LOOKS: Record<RunStatus, { dot: string; word: string }> = {
  pending: { dot: "border border-control", word: "pending" },
  running: { dot: "bg-accent animate-breathe", word: "running" },
  succeeded: { dot: "bg-good", word: "succeeded" },
  failed: { dot: "rounded-none bg-danger", word: "failed" },
  rejected: { dot: "rotate-45 rounded-none bg-warning", word: "rejected" },
  cancelled: { dot: "rounded-none border border-control", word: "cancelled" },
};

/** A run's state: a small mark with a word, the same everywhere. */
export function StatusDot({ status, className }: { status: RunStatus; className?: string }) {
  const { dot, word } = LOOKS[status];
  return (
    <span data-status={status} className={classes("inline-flex items-center gap-1.5 text-ink-2", className)}>
      <span aria-hidden className={classes("size-2 shrink-0 rounded-full", dot)} />
      {word}
    </span>
  );
}
