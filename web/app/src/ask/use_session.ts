// The conversation of the page, for its components.
import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { useNavigate } from "react-router";
import { keys } from "~/api/queries";
import { places, useThreadId } from "~/shell";
import { Session } from "./session";
import type { SessionState } from "./session_state";
import { wire } from "./wire";

const SessionContext = createContext<Session | null>(null);
export const SessionProvider = SessionContext.Provider;

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("there is no session around this component");
  return session;
}

/** `of` must give the same thing for the same state. */
export function useSessionState<T>(of: (state: SessionState) => T): T {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => of(session.get()));
}

/** The session of the page, kept in step with the address. */
export function usePageSession(): Session {
  const threadId = useThreadId();
  const go = useNavigate();
  const queries = useQueryClient();
  const changed = (id: string) => {
    void queries.invalidateQueries({ queryKey: keys.threads });
    void queries.invalidateQueries({ queryKey: keys.runs });
    return id;
  };
  const handlers = useRef({ onBegun: changed, onEnded: changed });
  useEffect(() => {
    handlers.current = {
      onBegun: (id) => {
        if (threadId !== id) void go(places.thread(id));
        return changed(id);
      },
      onEnded: changed,
    };
  });
  const [session] = useState(
    () =>
      new Session(wire, {
        onBegun: (id) => handlers.current.onBegun(id),
        onEnded: (id) => handlers.current.onEnded(id),
      }),
  );
  const left = useRef<string | null>(null);
  // Before the page is painted: what is typed at once is then typed into the thread of the address.
  useLayoutEffect(() => {
    const shown = session.get().threadId;
    // A question that was asked before the address came here has begun a conversation of its own: it stays.
    if (threadId === null && shown === left.current) session.clear();
    else if (threadId !== null && shown !== threadId) void session.open(threadId);
    left.current = threadId;
  }, [threadId, session]);
  // Leaving the page ends the listening, not the answer.
  useEffect(() => () => session.clear(), [session]);
  return session;
}
