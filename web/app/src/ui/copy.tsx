import { Check, Copy as CopyIcon } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "./button";

interface CopyProps {
  /** What is copied; a function when it is dear to make. */
  text: string | (() => string);
  label?: string;
}

export function Copy({ text, label = "Copy" }: CopyProps) {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), 1500);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setSaid("Copied");
    } catch {
      // Without https, or when it is forbidden, a browser gives no clipboard.
      setSaid("The browser does not allow copying");
    }
  };
  return (
    <>
      <IconButton label={said ?? label} size="smallIcon" onClick={copy}>
        {said === "Copied" ? <Check /> : <CopyIcon />}
      </IconButton>
      <span role="status" className="sr-only">
        {said}
      </span>
    </>
  );
}
