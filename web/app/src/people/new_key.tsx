import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { accountKeys, makeKey } from "~/api/accounts";
import type { KeyScope } from "~/api/model";
import { Button, Copy, ErrorNote, Field, Select } from "~/ui";
import { wrongIn } from "./wrong";

const SCOPES: readonly { id: KeyScope; title: string }[] = [
  { id: "read", title: "See what I may see" },
  { id: "ask", title: "Ask and run" },
  { id: "data", title: "Add and change data" },
  { id: "share", title: "Share" },
  { id: "admin", title: "Manage users" },
];
const DAYS = [7, 30, 90, 365];

/** Makes an API key of one's own, and shows it once. */
export function NewKey({ isAdmin }: { isAdmin: boolean }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [days, setDays] = useState(90);
  const [scopes, setScopes] = useState<KeyScope[]>(["read", "ask"]);
  const make = useMutation({
    mutationFn: () => makeKey(name, scopes, days),
    // A key is not kept after it was shown.
    gcTime: 0,
    onSuccess: () => {
      setName("");
      // Not waited for: the key is shown at once.
      void client.invalidateQueries({ queryKey: accountKeys.keys(null) });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  const toggle = (scope: KeyScope, chosen: boolean) =>
    setScopes(chosen ? [...scopes, scope] : scopes.filter((one) => one !== scope));
  const { fields, rest } = wrongIn(make.error, ["name"]);
  return (
    <form onSubmit={submit} className="space-y-3">
      <div className="flex flex-wrap items-end gap-2">
        <Field
          label="What the key is for"
          className="min-w-40 flex-1"
          required
          maxLength={80}
          value={name}
          onChange={(event) => setName(event.target.value)}
          wrong={fields.name}
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
      {rest !== null && <ErrorNote error={rest} />}
      <Button type="submit" disabled={make.isPending || scopes.length === 0}>
        Make a key
      </Button>
      {make.data && (
        <p role="status" className="flex flex-wrap items-center gap-2 rounded-md border bg-panel p-2">
          <code className="min-w-60 flex-1 break-all font-mono">{make.data.token}</code>
          <Copy text={make.data.token} label="Copy the key" />
          <span className="text-ink-2">It is shown this once.</span>
        </p>
      )}
    </form>
  );
}
