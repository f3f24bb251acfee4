const APPLE = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** `mod+k` as the viewer's keyboard has it. */
export function keysText(keys: string): string {
  const parts = keys.split("+").map((key) => {
    if (key === "mod") return APPLE ? "⌘" : "Ctrl";
    if (key === "shift") return APPLE ? "⇧" : "Shift";
    if (key === "enter") return "↵";
    if (key === "escape") return "Esc";
    return key.length === 1 ? key.toUpperCase() : key;
  });
  return parts.join(" ");
}

export function Keys({ keys }: { keys: string }) {
  return (
    <kbd className="rounded border border-line-strong bg-sunken px-1 font-sans text-ink-2 text-small">
      {keysText(keys)}
    </kbd>
  );
}
