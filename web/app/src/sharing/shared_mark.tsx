import { Users } from "lucide-react";
import { classes } from "~/ui";

/** Says that something belongs to another person. */
export function SharedMark({ by, className }: { by: string; className?: string }) {
  return (
    <span className={classes("inline-flex items-center gap-1 text-ink-3 text-small", className)}>
      <Users aria-hidden className="size-3.5 shrink-0" />
      <span className="truncate">Shared by {by}</span>
    </span>
  );
}
