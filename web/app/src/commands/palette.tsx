import { Command as Cmdk } from "cmdk";
import { Dialog as Radix } from "radix-ui";
import { Keys } from "~/ui";
import { match } from "./match";
import type { Command } from "./registry";
import { useCommands } from "./use_command";

interface PaletteProps {
  onClose: () => void;
}

const ROW =
  "flex cursor-pointer select-none items-center gap-3 rounded px-2 py-1.5 data-[selected=true]:bg-hover";

export default function Palette({ onClose }: PaletteProps) {
  const all = useCommands();
  const groups = Object.entries(grouped(all));
  const choose = (command: Command) => {
    onClose();
    // After the palette has given the focus back: a command may want it elsewhere.
    setTimeout(command.run, 0);
  };
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed top-[14vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-xl -translate-x-1/2 animate-appear rounded-lg border border-line-strong bg-page"
        >
          <Radix.Title className="sr-only">Commands</Radix.Title>
          <Cmdk label="Commands" loop filter={byTitle(all)}>
            <Cmdk.Input
              autoFocus
              placeholder="Search actions, datasets, threads and runs"
              className="h-11 w-full border-b bg-transparent px-4 outline-none placeholder:text-ink-3"
            />
            <Cmdk.List className="max-h-[50vh] overflow-auto p-2">
              <Cmdk.Empty className="px-2 py-6 text-center text-ink-2">Nothing has that name.</Cmdk.Empty>
              {groups.map(([group, list]) => (
                <Cmdk.Group
                  key={group}
                  heading={group}
                  className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-ink-3 [&_[cmdk-group-heading]]:text-small"
                >
                  {list.map((command) => (
                    <Cmdk.Item
                      key={command.id}
                      value={command.id}
                      keywords={[group, command.words ?? ""]}
                      onSelect={() => choose(command)}
                      className={ROW}
                    >
                      <span className="min-w-0 flex-1 truncate">{command.title}</span>
                      {command.keys && <Keys keys={command.keys} />}
                    </Cmdk.Item>
                  ))}
                </Cmdk.Group>
              ))}
            </Cmdk.List>
          </Cmdk>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function grouped(all: readonly Command[]): Record<string, Command[]> {
  const groups: Record<string, Command[]> = {};
  for (const command of all) {
    const group = command.group ?? "Actions";
    groups[group] = [...(groups[group] ?? []), command];
  }
  return groups;
}

/** Items are known by their id; what is compared is what a person reads. */
function byTitle(all: readonly Command[]) {
  const titles = new Map(all.map((command) => [command.id, command.title]));
  return (id: string, typed: string, beside?: string[]) => match(titles.get(id) ?? id, typed, beside);
}
