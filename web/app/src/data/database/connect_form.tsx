import { type FormEvent, useState } from "react";
import type { NewDatabase } from "~/api/databases";
import { problemOf, wrongFields } from "~/api/problem";
import { Button, ErrorNote, Field, Spinner } from "~/ui";
import { refusedRole } from "./refused";
import { RefusedRole } from "./refused_role";

interface ConnectFormProps {
  /** The only ones that may be connected; empty for any. */
  hosts: readonly string[];
  error: unknown;
  busy: boolean;
  onConnect: (body: NewDatabase) => void;
}

const EMPTY = { url: "", name: "", password: "", schema: "" };
const FIELDS = Object.keys(EMPTY);

export function ConnectForm({ hosts, error, busy, onConnect }: ConnectFormProps) {
  const [given, setGiven] = useState(EMPTY);
  const fill = (name: keyof typeof EMPTY) => ({
    value: given[name],
    onChange: (event: { target: { value: string } }) => setGiven({ ...given, [name]: event.target.value }),
  });
  const wrong = error ? wrongFields(problemOf(error)) : {};
  const refused = error ? refusedRole(error) : null;
  const elsewhere = Boolean(error) && !refused && !FIELDS.some((name) => wrong[name]);
  const connect = (allow = "") => {
    const { password, schema, ...rest } = given;
    onConnect({
      ...rest,
      ...(password ? { password } : {}),
      ...(schema ? { schema } : {}),
      ...(allow ? { allow_writer: allow } : {}),
    });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    connect();
  };
  return (
    <div className="space-y-4">
      <form onSubmit={submit} className="space-y-3" autoComplete="off">
        <Field
          label="Address"
          required
          spellCheck={false}
          placeholder="postgresql://reader@db.example.org/shop"
          wrong={wrong.url}
          {...fill("url")}
        />
        <p className="text-ink-3 text-small">
          PostgreSQL as shown; MariaDB and MySQL as <code>mysql://reader@db.example.org/shop</code>
        </p>
        {hosts.length > 0 && (
          <p className="wrap-anywhere text-ink-3 text-small">Allowed hosts: {hosts.join(", ")}</p>
        )}
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label="Password"
            type="password"
            autoComplete="new-password"
            wrong={wrong.password}
            {...fill("password")}
          />
          <Field
            label="Name here"
            required
            maxLength={128}
            pattern="[A-Za-z0-9_][A-Za-z0-9_.\-]*"
            title="Letters, digits, _, - and ."
            placeholder="shop"
            spellCheck={false}
            wrong={wrong.name}
            {...fill("name")}
          />
        </div>
        <Field
          label="Only this schema (optional)"
          maxLength={255}
          spellCheck={false}
          wrong={wrong.schema}
          {...fill("schema")}
        />
        <p className="text-ink-3 text-small">
          Use a role that can only read. What it can do is tried first, and nothing is changed.
        </p>
        <div className="flex items-center gap-3">
          <Button type="submit" kind="primary" disabled={busy}>
            Connect
          </Button>
          {busy && <Spinner label="Connecting, and trying what the role can do" />}
        </div>
      </form>
      {elsewhere && <ErrorNote error={error} />}
      {refused && <RefusedRole refused={refused} busy={busy} onAllow={() => connect(refused.role)} />}
    </div>
  );
}
