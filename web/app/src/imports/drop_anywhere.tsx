// Files may be dropped on any page, and a copied table may be pasted where nothing is being typed.
import { Upload } from "lucide-react";
import { useEffect, useState } from "react";
import { bringFiles, bringText } from "./transfers";

export function DropAnywhere() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    let depth = 0;
    const settle = (next: number) => {
      depth = Math.max(0, next);
      setOver(depth > 0);
    };
    const enter = (event: DragEvent) => bringsFiles(event) && settle(depth + 1);
    const leave = (event: DragEvent) => bringsFiles(event) && settle(depth - 1);
    // Without this the browser opens the file in place of the page.
    const stay = (event: DragEvent) => bringsFiles(event) && event.preventDefault();
    const drop = (event: DragEvent) => {
      if (!bringsFiles(event)) return;
      event.preventDefault();
      settle(0);
      bringFiles([...(event.dataTransfer?.files ?? [])]);
    };
    const paste = (event: ClipboardEvent) => {
      if (isTyping(event.target)) return;
      const files = [...(event.clipboardData?.files ?? [])];
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (files.length > 0) bringFiles(files);
      else if (isTable(text)) bringText(text, "pasted");
    };
    const listening = { dragenter: enter, dragleave: leave, dragover: stay, drop, paste };
    for (const [name, listener] of Object.entries(listening))
      addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of Object.entries(listening))
        removeEventListener(name, listener as EventListener);
    };
  }, []);
  if (!over) return null;
  return (
    <div className="pointer-events-none fixed inset-0 z-50 grid place-items-center bg-scrim">
      <p className="flex items-center gap-3 rounded-lg border border-accent bg-page px-6 py-4 text-title">
        <Upload aria-hidden className="size-5 text-accent" />
        Drop the files to ask about them
      </p>
    </div>
  );
}

const bringsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select, [contenteditable]") !== null)
  );
}

/** At least two lines, and the same number of tabs in each: what a spreadsheet copies. */
export function isTable(text: string): boolean {
  const lines = text.trimEnd().split(/\r?\n/);
  const tabs = lines.map((line) => line.split("\t").length - 1);
  return lines.length > 1 && tabs.every((one) => one > 0 && one === tabs[0]);
}
