import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Keys } from "./keys";

export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Radix.Provider delayDuration={400} skipDelayDuration={100}>
    {children}
  </Radix.Provider>
);

export function Tooltip({
  text,
  keys,
  children,
}: {
  text: ReactNode;
  keys?: string | undefined;
  children: ReactNode;
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 flex max-w-80 animate-appear items-center gap-2 rounded-md border border-line-strong bg-page px-2 py-1 text-ink text-small"
        >
          {text}
          {keys && <Keys keys={keys} />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
