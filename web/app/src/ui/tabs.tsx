import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { classes } from "./classes";

export interface Tab {
  id: string;
  title: ReactNode;
  content: ReactNode;
  disabled?: boolean;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  value: string;
  onChange: (id: string) => void;
  className?: string;
  contentClassName?: string;
}

/** Only the chosen tab's content is mounted. */
export function Tabs({ label, tabs, value, onChange, className, contentClassName }: TabsProps) {
  return (
    <Radix.Root
      value={value}
      onValueChange={onChange}
      className={classes("flex min-h-0 flex-col", className)}
    >
      <Radix.List aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto border-b px-3">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            disabled={tab.disabled}
            className="-mb-px border-transparent border-b-2 px-2 py-2 text-ink-2 -outline-offset-2 transition-colors hover:text-ink disabled:opacity-50 data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.title}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className={classes("min-h-0 flex-1", contentClassName)}>
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
