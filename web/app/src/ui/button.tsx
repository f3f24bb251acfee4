import { cva, type VariantProps } from "class-variance-authority";
import type { ComponentProps } from "react";
import { classes } from "./classes";
import { Tooltip } from "./tooltip";

const look = cva(
  "inline-flex shrink-0 select-none items-center justify-center gap-2 whitespace-nowrap rounded-md border text-body transition-colors disabled:cursor-not-allowed disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      kind: {
        plain: "border-line-strong bg-page text-ink hover:bg-hover",
        primary: "border-transparent bg-accent text-accent-ink hover:bg-accent-hover",
        quiet: "border-transparent bg-transparent text-ink-2 hover:bg-hover hover:text-ink",
        danger: "border-line-strong bg-page text-danger hover:bg-danger-soft",
      },
      size: { normal: "h-8 px-3", small: "h-7 px-2 text-small", icon: "size-8", smallIcon: "size-7" },
    },
    defaultVariants: { kind: "plain", size: "normal" },
  },
);

type ButtonProps = ComponentProps<"button"> & VariantProps<typeof look>;

export function Button({ className, kind, size, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={classes(look({ kind, size }), className)} {...rest} />;
}

/** A button that is only an icon: its label is read aloud and shown on hover, with its key if it has one. */
export function IconButton({
  label,
  keys,
  kind = "quiet",
  size = "icon",
  ...rest
}: Omit<ButtonProps, "aria-label"> & { label: string; keys?: string | undefined }) {
  return (
    <Tooltip text={label} keys={keys}>
      <Button kind={kind} size={size} aria-label={label} {...rest} />
    </Tooltip>
  );
}
