import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "~/ui";
import { type Copied, toClipboard } from "./clipboard";

/** The rows that are shown, as they are sorted. */
export function CopyTable({ table }: { table: () => Copied }) {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      // A large table takes a moment to write down: first the button is seen to be pressed.
      await new Promise((resolve) => setTimeout(resolve));
      await toClipboard(table());
      setSaid("Copied");
    } catch {
      setSaid("The browser does not allow copying");
    }
  };
  return (
    <>
      <IconButton label={said ?? "Copy table"} size="smallIcon" onClick={copy}>
        {said === "Copied" ? <Check /> : <Copy />}
      </IconButton>
      <span role="status" className="sr-only">
        {said}
      </span>
    </>
  );
}
