import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { accountKeys, endSession, endSessions, sessionsQuery, type Who } from "~/api/accounts";
import type { SignedInSession } from "~/api/model";
import { ago } from "~/format";
import { Button, ErrorNote, SkeletonLines } from "~/ui";
import { clientName, instant } from "./user_words";

/** Where a person is signed in. One's own sessions end one by one, too. */
export function SessionList({ who }: { who: Who }) {
  const client = useQueryClient();
  const found = useQuery(sessionsQuery(who));
  const end = useMutation({
    mutationFn: (sessionId: string | null) => (sessionId === null ? endSessions(who) : endSession(sessionId)),
    onSuccess: () => client.invalidateQueries({ queryKey: accountKeys.sessions(who) }),
  });
  const sessions = found.data ?? [];
  const others = sessions.filter((session) => !session.current);
  const hasOwn = others.length < sessions.length;
  return (
    <div className="space-y-2">
      {found.error && <ErrorNote error={found.error} onRetry={() => found.refetch()} />}
      {end.error && <ErrorNote error={end.error} />}
      {found.isPending && <SkeletonLines lines={2} label="Loading sessions" />}
      {found.data?.length === 0 && <p className="text-ink-2">Signed in nowhere.</p>}
      {sessions.length > 0 && (
        <ul aria-label="Sessions" className="divide-y rounded-md border">
          {sessions.map((session) => (
            <li key={session.id} className="flex items-center gap-2 px-3 py-1.5">
              <SessionWords session={session} />
              {who === null && !session.current && (
                <Button
                  size="small"
                  kind="quiet"
                  disabled={end.isPending}
                  aria-label={`End ${clientName(session.client)}`}
                  onClick={() => end.mutate(session.id)}
                >
                  End
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <Button disabled={end.isPending} onClick={() => end.mutate(null)}>
          {hasOwn ? "Sign out everywhere else" : "End all sessions"}
        </Button>
      )}
    </div>
  );
}

function SessionWords({ session }: { session: SignedInSession }) {
  const { text, raw } = ago(instant(session.seen_at));
  return (
    <span className="min-w-0 flex-1">
      <span className="block truncate" title={session.client}>
        {clientName(session.client)}
        {session.current && <span className="text-ink-2"> (this one)</span>}
      </span>
      <span className="block break-words text-ink-2 text-small" title={raw}>
        {[session.address, `used ${text}`].filter(Boolean).join(" · ")}
      </span>
    </span>
  );
}
