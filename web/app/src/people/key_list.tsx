import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { accountKeys, apiKeysQuery, revokeKey, type Who } from "~/api/accounts";
import type { ApiKey } from "~/api/model";
import { ago, date } from "~/format";
import { ErrorNote, IconButton, SkeletonLines } from "~/ui";
import { instant } from "./user_words";

/** API keys of a person, without the keys themselves. */
export function KeyList({ who }: { who: Who }) {
  const found = useQuery(apiKeysQuery(who));
  return (
    <>
      {found.error && <ErrorNote error={found.error} onRetry={() => found.refetch()} />}
      {found.isPending && <SkeletonLines lines={2} label="Loading keys" />}
      {found.data?.length === 0 && (
        <p className="text-ink-2">{who === null ? "You have no keys." : "There are no keys."}</p>
      )}
      {found.data && found.data.length > 0 && (
        <ul aria-label="Keys" className="divide-y rounded-md border">
          {found.data.map((key) => (
            <KeyRow key={key.id} who={who} apiKey={key} />
          ))}
        </ul>
      )}
    </>
  );
}

function KeyRow({ who, apiKey }: { who: Who; apiKey: ApiKey }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => revokeKey(who, apiKey.id),
    onSuccess: () =>
      Promise.all(
        [accountKeys.keys(who), accountKeys.users].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
  return (
    <li className="flex items-center gap-2 px-3 py-1.5">
      <span className="min-w-0 flex-1">
        <span className="block truncate">{apiKey.name}</span>
        <span className="block text-ink-2 text-small">
          {[apiKey.scopes.join(", "), expiry(apiKey), use(apiKey)].join(" · ")}
        </span>
        {revoke.error && <ErrorNote error={revoke.error} />}
      </span>
      <IconButton
        label={`Revoke ${apiKey.name}`}
        size="smallIcon"
        disabled={revoke.isPending}
        onClick={() => revoke.mutate()}
      >
        <Trash2 />
      </IconButton>
    </li>
  );
}

const expiry = ({ expires_at }: ApiKey) =>
  expires_at === null ? "never expires" : `until ${date(instant(expires_at)).text}`;

const use = ({ used_at }: ApiKey) => (used_at === null ? "never used" : `used ${ago(instant(used_at)).text}`);
