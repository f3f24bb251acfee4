import { classes } from "./classes";
import { Copy } from "./copy";

/** Code as it is, to read and to copy. Editors and highlighting are the details panel's. */
export function CodeText({ text, label, className }: { text: string; label: string; className?: string }) {
  return (
    <div className={classes("relative rounded-md border bg-panel", className)}>
      <section
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-96 overflow-auto p-3 pr-10"
      >
        <pre className="font-mono text-[13px] leading-5">{text}</pre>
      </section>
      <div className="absolute top-1 right-1">
        <Copy text={text} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
