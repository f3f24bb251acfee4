import { useSyncExternalStore } from "react";

/** Whether the window is at least so wide. 768: the sidebar stands; 1100: details stand beside the page. */
export function useWide(pixels: number): boolean {
  const query = `(min-width: ${pixels}px)`;
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    () => matchMedia(query).matches,
  );
}

export const SIDEBAR_STANDS = 768;
export const DETAILS_STAND = 1100;

/** So high is the window; it changes with it. */
export function useWindowHeight(): number {
  return useSyncExternalStore(onResize, () => window.innerHeight);
}

function onResize(changed: () => void): () => void {
  window.addEventListener("resize", changed);
  return () => window.removeEventListener("resize", changed);
}
