import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "./button";
import { classes } from "./classes";

interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** One sentence under the title. */
  description?: string;
  children: ReactNode;
  className?: string;
}

/** The panel itself, unless one of its fields took the focus: the first button in it is Close. */
function focusPanel(event: Event) {
  event.preventDefault();
  const panel = event.currentTarget;
  if (panel instanceof HTMLElement && !panel.contains(document.activeElement)) panel.focus();
}

const SCRIM = "fixed inset-0 z-40 animate-appear bg-scrim";

export function Dialog({ open, onOpenChange, title, description, children, className }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={SCRIM} />
        <Radix.Content
          onOpenAutoFocus={focusPanel}
          {...(description ? {} : { "aria-describedby": undefined })}
          className={classes(
            "fixed top-[12vh] left-1/2 z-50 flex max-h-[76vh] w-[calc(100vw-32px)] max-w-lg -translate-x-1/2 animate-appear flex-col rounded-lg border border-line-strong bg-page outline-none",
            className,
          )}
        >
          <header className="flex items-start justify-between gap-4 px-4 pt-4">
            <div className="wrap-anywhere min-w-0">
              <Radix.Title className="font-medium text-title">{title}</Radix.Title>
              {description && (
                <Radix.Description className="mt-1 text-ink-2">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close">
                <X />
              </IconButton>
            </Radix.Close>
          </header>
          <div className="min-h-0 overflow-auto p-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const SIDES = {
  left: "inset-y-0 left-0 w-[280px] max-w-[85vw] border-r",
  right: "inset-y-0 right-0 w-[480px] max-w-[92vw] border-l",
  bottom: "inset-x-0 bottom-0 h-[82dvh] rounded-t-lg border-t",
} as const;

/** A panel that slides over the page from one side. Its children bring their own header. */
export function Sheet({
  open,
  onOpenChange,
  title,
  side,
  children,
}: Omit<DialogProps, "description" | "className"> & { side: keyof typeof SIDES }) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={SCRIM} />
        <Radix.Content
          onOpenAutoFocus={focusPanel}
          aria-describedby={undefined}
          className={classes(
            "fixed z-50 flex animate-appear flex-col border-line-strong bg-page outline-none",
            SIDES[side],
          )}
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
