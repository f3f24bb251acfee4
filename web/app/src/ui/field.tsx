import type { ComponentProps } from "react";
import { classes } from "./classes";

const LOOK =
  "rounded-md border border-control bg-page px-2.5 text-ink placeholder:text-ink-3 disabled:opacity-50 aria-invalid:border-danger";

/** Every field has a label, shown or not. */
export function Input({ label, className, ...rest }: ComponentProps<"input"> & { label: string }) {
  return <input aria-label={label} className={classes(LOOK, "h-8 min-w-0", className)} {...rest} />;
}

export function Select({ label, className, ...rest }: ComponentProps<"select"> & { label: string }) {
  return <select aria-label={label} className={classes(LOOK, "h-8 pr-1", className)} {...rest} />;
}
