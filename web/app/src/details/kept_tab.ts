// Which tab was looked at last: it is the one that opens next time.
import { useCallback, useState } from "react";

export const TABS = ["reading", "plan", "sql", "log", "proof"] as const;
export type TabId = (typeof TABS)[number];

const KEY = "sandtable.details.tab";

const isTab = (value: unknown): value is TabId => TABS.some((tab) => tab === value);

export function useKeptTab(): [TabId, (tab: string) => void] {
  const [tab, setTab] = useState<TabId>(kept);
  const choose = useCallback((next: string) => {
    if (!isTab(next)) return;
    setTab(next);
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Storage may be forbidden: it then holds until the panel is closed.
    }
  }, []);
  return [tab, choose];
}

function kept(): TabId {
  try {
    const value = localStorage.getItem(KEY);
    return isTab(value) ? value : "reading";
  } catch {
    // Storage may be forbidden.
    return "reading";
  }
}
