// Which run the details panel shows. It is in the address (`?details=run_…`): it survives a reload and can be linked.
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { useSearchParams } from "react-router";

export interface Details {
  /** The run that is shown; nothing while the panel is closed. */
  runId: string | null;
  /** `tab` is the one to begin with, where it matters; else the one looked at last. */
  open: (runId: string, tab?: string) => void;
  close: () => void;
}

const PARAMETER = "details";
export const TAB_PARAMETER = "tab";

interface Subject {
  subject: string | null;
  setSubject: (runId: string | null) => void;
}

const SubjectContext = createContext<Subject>({ subject: null, setSubject: () => undefined });

export function DetailsProvider({ children }: { children: ReactNode }) {
  const [subject, setSubject] = useState<string | null>(null);
  const value = useMemo(() => ({ subject, setSubject }), [subject]);
  return <SubjectContext value={value}>{children}</SubjectContext>;
}

export function useDetails(): Details {
  const [parameters, setParameters] = useSearchParams();
  const change = useCallback(
    (runId: string | null, tab?: string) =>
      setParameters(
        (before) => {
          const after = new URLSearchParams(before);
          if (runId) after.set(PARAMETER, runId);
          else after.delete(PARAMETER);
          if (tab) after.set(TAB_PARAMETER, tab);
          else after.delete(TAB_PARAMETER);
          return after;
        },
        { replace: true, preventScrollReset: true },
      ),
    [setParameters],
  );
  const open = useCallback((runId: string, tab?: string) => change(runId, tab), [change]);
  const close = useCallback(() => change(null), [change]);
  return { runId: parameters.get(PARAMETER), open, close };
}

/** A page says which run `d` opens: the newest answer of a thread, say. */
export function useDetailsSubject(runId: string | null): void {
  const { setSubject } = useContext(SubjectContext);
  useEffect(() => {
    setSubject(runId);
    return () => setSubject(null);
  }, [runId, setSubject]);
}

export const useSubject = (): string | null => useContext(SubjectContext).subject;
