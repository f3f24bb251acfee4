// Light, dark, or as the system has it. public/theme.js does the same before the first paint.
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";
export type ThemeChoice = Theme | "system";

const KEY = "sandtable.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let choice: ThemeChoice = kept();
let forced: Theme | null = null;

function kept(): ThemeChoice {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    // Storage may be forbidden.
    return "system";
  }
}

function theme(): Theme {
  if (forced) return forced;
  if (choice !== "system") return choice;
  return system.matches ? "dark" : "light";
}

function apply(): void {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}

system.addEventListener("change", apply);

export function chooseTheme(next: ThemeChoice): void {
  choice = next;
  try {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // It then holds until the page is left.
  }
  apply();
}

/** For a while, whatever was chosen: paper is light. Null gives the choice back. */
export function forceTheme(next: Theme | null): void {
  forced = next;
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The theme that is shown; charts and editors have to be told. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, theme);

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, () => choice);
