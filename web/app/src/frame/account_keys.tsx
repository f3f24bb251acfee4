import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { ApiKey, KeyScope } from "~/api/model";
import { keys, myKeysQuery } from "~/api/queries";
import { makeKey, revokeKey } from "~/api/rest";
import { Button, Copy, Dialog, ErrorNote, IconButton, Input, Select, SkeletonLines } from "~/ui";

const SCOPES: readonly { id: KeyScope; title: string }[] = [
  { id: "read", title: "See what I may see" },
  { id: "ask", title: "Ask and run" },
  { id: "data", title: "Add and change data" },
  { id: "share", title: "Share" },
  { id: "admin", title: "Manage users" },
];
const DAYS = [7, 30, 90, 365];

/** One's own API keys: made here, shown once, revoked here. */
export default function AccountKeys({ isAdmin, onClose }: { isAdmin: boolean; onClose: () => void }) {
  const found = useQuery(myKeysQuery());
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="API keys"
      description="Programs send one as “Authorization: Bearer …”. A key never allows more than you may do."
    >
      <div className="space-y-4">
        <NewKeyForm isAdmin={isAdmin} />
        {found.error && <ErrorNote error={found.error} onRetry={() => found.refetch()} />}
        {found.isPending && <SkeletonLines label="Loading keys" />}
        {found.data?.length === 0 && <p className="text-ink-2">You have no keys.</p>}
        <ul className="space-y-1">
          {found.data?.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

function NewKeyForm({ isAdmin }: { isAdmin: boolean }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [days, setDays] = useState(90);
  const [scopes, setScopes] = useState<KeyScope[]>(["read", "ask"]);
  const make = useMutation({
    mutationFn: () => makeKey(name, scopes, days),
    onSuccess: () => {
      setName("");
      return client.invalidateQueries({ queryKey: keys.myKeys });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  const toggle = (scope: KeyScope, chosen: boolean) =>
    setScopes(chosen ? [...scopes, scope] : scopes.filter((one) => one !== scope));
  return (
    <form onSubmit={submit} className="space-y-2">
      <div className="flex gap-2">
        <Input
          label="What the key is for"
          placeholder="What the key is for"
          className="flex-1"
          required
          maxLength={80}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Select label="Expires" value={days} onChange={(event) => setDays(Number(event.target.value))}>
          {DAYS.map((each) => (
            <option key={each} value={each}>
              {each} days
            </option>
          ))}
        </Select>
      </div>
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="sr-only">What the key may do</legend>
        {SCOPES.filter((scope) => isAdmin || scope.id !== "admin").map((scope) => (
          <label key={scope.id} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              checked={scopes.includes(scope.id)}
              onChange={(event) => toggle(scope.id, event.target.checked)}
            />
            {scope.title}
          </label>
        ))}
      </fieldset>
      {make.error && <ErrorNote error={make.error} />}
      <Button type="submit" disabled={make.isPending || scopes.length === 0}>
        Make a key
      </Button>
      {make.data && (
        <p role="status" className="flex items-center gap-2 rounded-md border p-2">
          <code className="min-w-0 flex-1 break-all">{make.data.token}</code>
          <Copy text={make.data.token} label="Copy the key" />
          <span className="text-ink-2">It is shown this once.</span>
        </p>
      )}
    </form>
  );
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => revokeKey(apiKey.id),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.myKeys }),
  });
  return (
    <li className="flex items-center gap-2 border-t pt-1">
      <span className="min-w-0 flex-1">
        <span className="block truncate">{apiKey.name}</span>
        <span className="block text-ink-2">
          {apiKey.scopes.join(", ")} · {expiry(apiKey)}
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

function expiry({ expires_at }: ApiKey): string {
  if (expires_at === null) return "never expires";
  return `until ${new Date(expires_at * 1000).toLocaleDateString("en", { dateStyle: "medium" })}`;
}
