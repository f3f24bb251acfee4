import type { ReactNode } from "react";
import { classes } from "~/ui";

/** Names with what they are, one below the other. */
export const Facts = ({ children, className }: { children: ReactNode; className?: string }) => (
  <dl
    className={classes("grid grid-cols-[minmax(88px,max-content)_minmax(0,1fr)] gap-x-4 gap-y-2", className)}
  >
    {children}
  </dl>
);

export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-ink-3">{name}</dt>
    <dd className="min-w-0 break-words">{children}</dd>
  </>
);

export const Section = ({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) => (
  <section aria-label={title} className="space-y-2">
    <div className="flex min-h-7 items-center justify-between gap-2">
      <h3 className="font-medium">{title}</h3>
      {actions}
    </div>
    {children}
  </section>
);
