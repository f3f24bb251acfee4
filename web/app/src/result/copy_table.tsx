import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "~/ui";
import { type Cells, toClipboard } from "./clipboard";

/** The rows that are shown, as they are sorted. */
export function CopyTable({ table }: { table: () => Cells }) {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
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
