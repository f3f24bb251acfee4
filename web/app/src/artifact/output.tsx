import { classes } from "~/ui";
import { printed } from "./printed";

interface OutputProps {
  text: string;
  label: string;
  /** What went wrong, as the interpreter says it. */
  trouble?: boolean;
}

/** What code printed, to read and to scroll within itself. */
export function Output({ text, label, trouble = false }: OutputProps) {
  const words = printed(text);
  if (words === "") return null;
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className={classes(
        "max-h-60 overflow-auto rounded-md border bg-panel px-3 py-2",
        trouble && "border-danger/40",
      )}
    >
      <pre className="font-mono text-[12px] text-ink-2 leading-4">{words}</pre>
    </section>
  );
}
