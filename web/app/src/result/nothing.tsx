import { Button } from "~/ui";
import { HEAD_HEIGHT } from "./grid";

interface NothingProps {
  filtering: boolean;
  onClear: () => void;
}

/** Over the empty place under the header. */
export function Nothing({ filtering, onClear }: NothingProps) {
  return (
    <div
      className="pointer-events-none absolute inset-x-0 bottom-0 flex items-center justify-center gap-2 px-3 text-ink-2"
      style={{ top: HEAD_HEIGHT }}
    >
      {filtering ? "No row matches." : "No rows: the query ran, and nothing fits it."}
      {filtering && (
        <Button size="small" className="pointer-events-auto" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </div>
  );
}
