// Everything a person can do, registered once and used by button, key and palette alike.

export interface Command {
  /** `thread.new`, `details.toggle`: of several with one id the last one added holds. */
  id: string;
  title: string;
  /** Heading in the palette and in the list of keys. */
  group?: string;
  /** `mod+k`, `/`, `d`, `shift+?`; `mod` is ⌘ on Apple's keyboards and Ctrl elsewhere. */
  keys?: string;
  /** Also found by these words. */
  words?: string;
  /** Whether it also works while the person types in a field; those with `mod` always do. */
  whileTyping?: boolean;
  /** Gives way to any other command with its id, also to one that was added before it. */
  fallback?: boolean;
  run: () => void;
}

export class Registry {
  private readonly stacks = new Map<string, Command[]>();
  private readonly listeners = new Set<() => void>();
  private known: readonly Command[] = [];

  /** Adds a command; calling what it returns takes it away. */
  add(command: Command): () => void {
    const stack = this.stacks.get(command.id) ?? [];
    this.stacks.set(command.id, command.fallback ? [command, ...stack] : [...stack, command]);
    this.changed();
    return () => {
      const left = (this.stacks.get(command.id) ?? []).filter((one) => one !== command);
      if (left.length) this.stacks.set(command.id, left);
      else this.stacks.delete(command.id);
      this.changed();
    };
  }

  all = (): readonly Command[] => this.known;

  find(id: string): Command | undefined {
    return this.stacks.get(id)?.at(-1);
  }

  run(id: string): boolean {
    const command = this.find(id);
    command?.run();
    return command !== undefined;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private changed(): void {
    this.known = [...this.stacks.values()].flatMap((stack) => stack.at(-1) ?? []);
    for (const listener of this.listeners) listener();
  }
}

export const commands = new Registry();
