// Python to read, in the colours of the editors. No editor is loaded for it.
import { useMemo } from "react";
import { Copy, classes } from "~/ui";
import { type Look, pythonTokens } from "./python_tokens";

const COLOURS: Record<Look, string> = {
  plain: "",
  keyword: "text-accent",
  string: "text-good",
  number: "text-warning",
  comment: "text-ink-3 italic",
};

interface PythonCodeProps {
  code: string;
  label?: string;
  /** All of it is seen without scrolling sideways: somebody decides about it. */
  wraps?: boolean;
}

export function PythonCode({ code, label = "Python code", wraps = false }: PythonCodeProps) {
  const tokens = useMemo(() => pythonTokens(code), [code]);
  return (
    <div className="relative rounded-md border bg-page">
      <section
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-96 overflow-auto p-3 pr-10"
      >
        <pre
          className={classes("font-mono text-[13px] leading-5", wraps && "whitespace-pre-wrap break-words")}
        >
          {tokens.map(({ look, text }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the words of a text never move
            <span key={at} className={classes(COLOURS[look])}>
              {text}
            </span>
          ))}
        </pre>
      </section>
      <div className="absolute top-1 right-0 rounded-r-md bg-page pr-1">
        <Copy text={code} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
