import type { ReactNode } from "react";

interface FramedProps {
  title: string;
  /** At the end of its bar. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The border and the bar of what is shown by itself, as charts have them. */
export function Framed({ title, actions, children }: FramedProps) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border">
      <div className="flex h-10 items-center gap-1 border-b bg-panel pr-1 pl-3">
        <figcaption className="mr-auto truncate text-ink-2 text-small" title={title}>
          {title}
        </figcaption>
        {actions}
      </div>
      {children}
    </figure>
  );
}

/** A line above what has a border of its own; nothing where there is no title. */
export function Captioned({ title, children }: { title: string; children: ReactNode }) {
  return (
    <figure className="min-w-0 space-y-1.5">
      {title && <figcaption className="break-words text-ink-2 text-small">{title}</figcaption>}
      {children}
    </figure>
  );
}
