import { type ClassValue, clsx } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

// Our sizes of text must be told, or `text-small` would be taken for a colour and push out `text-ink-2`.
const merge = extendTailwindMerge({ extend: { theme: { text: ["small", "body", "title", "answer"] } } });

/** Class names put together; of two that contradict each other the last one holds. */
export function classes(...given: ClassValue[]): string {
  return merge(clsx(given));
}
