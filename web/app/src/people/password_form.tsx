import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { accountKeys, changePassword } from "~/api/accounts";
import { Button, ErrorNote, Field } from "~/ui";
import { wrongIn } from "./wrong";

/** Changes one's own password. */
export function PasswordForm({ name }: { name: string }) {
  const client = useQueryClient();
  const [old, setOld] = useState("");
  const [fresh, setFresh] = useState("");
  const [again, setAgain] = useState("");
  const [differs, setDiffers] = useState(false);
  const change = useMutation({
    mutationFn: () => changePassword(old, fresh),
    onSuccess: () => {
      for (const empty of [setOld, setFresh, setAgain]) empty("");
      return client.invalidateQueries({ queryKey: accountKeys.sessions(null) });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setDiffers(fresh !== again);
    if (fresh === again) change.mutate();
  };
  const { fields, rest } = wrongIn(change.error, ["old", "new"]);
  const typed = (set: (text: string) => void) => ({
    type: "password",
    required: true,
    onChange: (event: { target: { value: string } }) => {
      set(event.target.value);
      setDiffers(false);
      if (!change.isPending) change.reset();
    },
  });
  return (
    <form onSubmit={submit} className="max-w-sm space-y-3">
      {/* Tells password managers whose password it is. */}
      <input type="text" name="username" autoComplete="username" value={name} readOnly hidden />
      <Field
        label="Old password"
        autoComplete="current-password"
        {...typed(setOld)}
        value={old}
        wrong={fields.old}
      />
      <Field
        label="New password"
        autoComplete="new-password"
        {...typed(setFresh)}
        value={fresh}
        wrong={fields.new}
      />
      <Field
        label="New password, again"
        autoComplete="new-password"
        {...typed(setAgain)}
        value={again}
        wrong={
          differs ? { message: "the two differ", suggestion: "Type the new password twice." } : undefined
        }
      />
      {rest !== null && <ErrorNote error={rest} />}
      <Button type="submit" disabled={change.isPending}>
        Change the password
      </Button>
      <p role="status" className={change.isSuccess ? "text-ink-2" : "sr-only"}>
        {change.isSuccess && "Your password is changed. Your other sessions ended."}
      </p>
    </form>
  );
}
