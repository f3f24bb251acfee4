import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { accountKeys, addUser, type NewUser } from "~/api/accounts";
import { problemOf } from "~/api/problem";
import { Button, ErrorNote, Field } from "~/ui";
import { MadePassword } from "./made_password";
import { wrongIn } from "./wrong";

export function AddUser({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [admin, setAdmin] = useState(false);
  const [makePassword, setMakePassword] = useState(true);
  const add = useMutation({
    mutationFn: (user: NewUser) => addUser(user),
    // A password is not kept after it was shown.
    gcTime: 0,
    // Not waited for: the password is shown at once.
    onSuccess: () => void client.invalidateQueries({ queryKey: accountKeys.users }),
  });
  const send = (restore: boolean) =>
    add.mutate({ name: name.trim(), admin, make_password: makePassword, restore });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send(false);
  };
  if (add.data) {
    return (
      <div className="space-y-3">
        <p role="status" className="wrap-anywhere">
          {add.data.name} was added.
        </p>
        {add.data.password && <MadePassword name={add.data.name} password={add.data.password} />}
        <Button onClick={onClose}>Done</Button>
      </div>
    );
  }
  const { fields, rest } = wrongIn(add.error, ["name"]);
  const wasRemoved = add.error !== null && problemOf(add.error).details.removed === true;
  return (
    <form onSubmit={submit} className="space-y-3">
      <Field
        label="Name"
        required
        autoFocus
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={64}
        value={name}
        onChange={(event) => {
          setName(event.target.value);
          add.reset();
        }}
        wrong={fields.name}
      />
      {wasRemoved && (
        <Button size="small" disabled={add.isPending} onClick={() => send(true)}>
          Restore this account
        </Button>
      )}
      <Choice checked={admin} onChange={setAdmin} title="Administrator">
        Sees what everyone made, and manages users and teams.
      </Choice>
      <Choice checked={makePassword} onChange={setMakePassword} title="Make a password">
        It is shown once. Without one, the user needs an identity provider, a proxy or an API key.
      </Choice>
      {rest !== null && <ErrorNote error={rest} />}
      <Button kind="primary" type="submit" disabled={add.isPending}>
        Add the user
      </Button>
    </form>
  );
}

interface ChoiceProps {
  checked: boolean;
  onChange: (checked: boolean) => void;
  title: string;
  children: string;
}

const Choice = ({ checked, onChange, title, children }: ChoiceProps) => (
  <label className="flex items-start gap-2">
    <input
      type="checkbox"
      className="mt-0.5 size-4 shrink-0"
      checked={checked}
      onChange={(event) => onChange(event.target.checked)}
    />
    <span>
      {title}
      <span className="block text-ink-2 text-small">{children}</span>
    </span>
  </label>
);
