import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { commandFor, isTyping } from "./keys";
import { type Command, commands } from "./registry";

/** Registers a command while the component is shown; `null` for one that makes no sense now. */
export function useCommand(command: Command | null): void {
  useCommandList(command ? [command] : []);
}

/** Several at once, such as one for each dataset. */
export function useCommandList(list: readonly Command[]): void {
  const run = useEffectEvent((id: string) => list.find((one) => one.id === id)?.run());
  // Registered again only when something a person can see has changed, not at each rendering.
  const seen = JSON.stringify(list.map(({ run: _, ...rest }) => rest));
  useEffect(() => {
    const shown = JSON.parse(seen) as Omit<Command, "run">[];
    const away = shown.map((command) => commands.add({ ...command, run: () => run(command.id) }));
    return () => {
      for (const remove of away) remove();
    };
  }, [seen]);
}

export function useCommands(): readonly Command[] {
  return useSyncExternalStore(commands.subscribe, commands.all);
}

/** Used once, by the shell. */
export function useCommandKeys(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      // While a dialog is open, keys belong to it; only those with a modifier still mean a command.
      const typing =
        isTyping(event.target) || document.querySelector('[role="dialog"][data-state="open"]') !== null;
      const command = commandFor(event, typing, commands.all());
      if (!command) return;
      event.preventDefault();
      command.run();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
