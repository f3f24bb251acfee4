// From a key press to a command.
import type { Command } from "./registry";

export interface Press {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

export function matches(press: Press, keys: string): boolean {
  const parts = keys.toLowerCase().split("+");
  const key = parts.at(-1) ?? "";
  const mod = parts.includes("mod");
  if (press.altKey || (press.ctrlKey || press.metaKey) !== mod) return false;
  if (press.key.toLowerCase() !== key) return false;
  // A sign such as ? takes shift on some keyboards and none on others: the sign itself is what counts.
  const letter = /^[a-z]$/.test(key) || key.length > 1;
  return !letter || press.shiftKey === parts.includes("shift");
}

/** The command a press means. The last registered wins: it is the nearest to what the person looks at. */
export function commandFor(press: Press, typing: boolean, all: readonly Command[]): Command | undefined {
  return all.findLast(
    (command) =>
      command.keys !== undefined &&
      matches(press, command.keys) &&
      (!typing || command.whileTyping === true || command.keys.includes("mod+")),
  );
}

/** Whether keys go into a text now. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("[contenteditable=true]")) return true;
  if (target instanceof HTMLInputElement) return !/^(button|checkbox|radio|range|submit)$/.test(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
