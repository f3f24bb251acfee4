import { Dialog, Keys } from "~/ui";
import { useCommands } from "./use_command";

/** All keys that mean something here and now. */
export function KeySheet({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const withKeys = useCommands().filter((command) => command.keys);
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts">
      <dl className="divide-y">
        {withKeys.map((command) => (
          <div key={command.id} className="flex items-center justify-between gap-4 py-2">
            <dt>{command.title}</dt>
            <dd>
              <Keys keys={command.keys ?? ""} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
