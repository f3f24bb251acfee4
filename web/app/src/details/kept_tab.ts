// Which tab was looked at last: it is the one that opens next time, unless the address names one.
import { useCallback, useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { TAB_PARAMETER } from "~/shell";

export const TABS = ["reading", "plan", "sql", "code", "log", "proof"] as const;
export type TabId = (typeof TABS)[number];

const KEY = "sandtable.details.tab";

const isTab = (value: unknown): value is TabId => TABS.some((tab) => tab === value);

export function useKeptTab(): [TabId, (tab: string) => void] {
  const [parameters] = useSearchParams();
  const asked = parameters.get(TAB_PARAMETER);
  const [tab, setTab] = useState<TabId>(kept);
  useEffect(() => {
    if (isTab(asked)) setTab(asked);
  }, [asked]);
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
