import { Check } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { classes } from "./classes";

const ITEM =
  "flex cursor-pointer select-none items-center gap-2 rounded px-2 py-1.5 outline-none data-[disabled]:cursor-not-allowed data-[highlighted]:bg-hover data-[disabled]:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0";

interface MenuProps {
  trigger: ReactNode;
  children: ReactNode;
  align?: "start" | "end";
  className?: string;
  /** Before the focus goes back to the trigger, which can be prevented. */
  onCloseAutoFocus?: (event: Event) => void;
}

export function Menu({ trigger, children, align = "start", className, onCloseAutoFocus }: MenuProps) {
  return (
    // Not modal: the page stays readable, and only what is open is closed by a click beside it.
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          {...(onCloseAutoFocus ? { onCloseAutoFocus } : {})}
          className={classes(
            "z-50 max-h-[60vh] min-w-40 animate-appear overflow-auto rounded-md border border-line-strong bg-page p-1",
            className,
          )}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface MenuItemProps {
  onSelect: () => void;
  children: ReactNode;
  danger?: boolean;
  disabled?: boolean;
}

export function MenuItem({ onSelect, children, danger = false, disabled = false }: MenuItemProps) {
  return (
    <Radix.Item onSelect={onSelect} disabled={disabled} className={classes(ITEM, danger && "text-danger")}>
      {children}
    </Radix.Item>
  );
}

export interface Choice {
  id: string;
  title: string;
  description?: string | undefined;
}

/** One of several, with a tick at the one that holds. */
export function MenuChoices({
  choices,
  value,
  disabled = false,
  onChange,
}: {
  choices: readonly Choice[];
  value: string;
  disabled?: boolean;
  onChange: (id: string) => void;
}) {
  return (
    <Radix.RadioGroup value={value} onValueChange={onChange}>
      {choices.map((choice) => (
        <Radix.RadioItem
          key={choice.id}
          value={choice.id}
          disabled={disabled}
          className={classes(ITEM, "items-start")}
        >
          <span className="mt-0.5 size-4 shrink-0">
            <Radix.ItemIndicator>
              <Check aria-hidden />
            </Radix.ItemIndicator>
          </span>
          <span className="min-w-0">
            {choice.title}
            {choice.description && <span className="block text-ink-3 text-small">{choice.description}</span>}
          </span>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

export const MenuHeading = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="break-words px-2 py-1.5 text-ink-3 text-small first-letter:uppercase">
    {children}
  </Radix.Label>
);

export const MenuLine = () => <Radix.Separator className="my-1 h-px bg-line" />;
