import { type FormEvent, useState } from "react";
import { Button, ErrorNote, Field } from "~/ui";

interface NameFormProps {
  label: string;
  action: string;
  name?: string;
  pending: boolean;
  error: unknown;
  onName: (name: string) => void;
}

/** A dialog's only field. */
export function NameForm({ label, action, name: before = "", pending, error, onName }: NameFormProps) {
  const [name, setName] = useState(before);
  const sent = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") onName(name.trim());
  };
  return (
    <form onSubmit={sent} className="space-y-4">
      <Field
        label={label}
        value={name}
        required
        maxLength={120}
        onChange={(event) => setName(event.target.value)}
      />
      {error ? <ErrorNote error={error} /> : null}
      <Button type="submit" kind="primary" disabled={pending || name.trim() === ""}>
        {action}
      </Button>
    </form>
  );
}
