import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { SharesView } from "~/api/model";
import {
  type Recipient,
  type Right,
  type SharedKind,
  share,
  sharesKey,
  sharesQuery,
  unshare,
} from "~/api/sharing";
import { Button, Dialog, ErrorNote, Input, Select, SkeletonLines } from "~/ui";

interface ShareDialogProps {
  kind: SharedKind;
  id: string;
  title: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

const SAYS: Record<SharedKind, string> = {
  thread: "Others can read it and open its runs. They cannot ask in it, nor ask about its data.",
  run: "Others can open, download and verify it. They cannot ask about its data.",
  question: "Others can see it and its results. They run it again only if they may ask about its data.",
  board: "Others can see it with your questions on it and their results, and change it if you let them edit.",
  dataset: "Others can ask about it, and change it if you let them edit.",
};

/** With whom a thing is shared: people, teams, everyone here. */
export function ShareDialog({ kind, id, title, open, onOpenChange }: ShareDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={`Share ${title}`} description={SAYS[kind]}>
      {open && <Shares kind={kind} id={id} />}
    </Dialog>
  );
}

function Shares({ kind, id }: { kind: SharedKind; id: string }) {
  const client = useQueryClient();
  const shares = useQuery(sharesQuery(kind, id));
  const keep = (view: SharesView) => client.setQueryData(sharesKey(kind, id), view);
  const add = useMutation({
    mutationFn: ({ recipient, name, right }: { recipient: Recipient; name: string; right: Right }) =>
      share(kind, id, recipient, name, right),
    onSuccess: keep,
  });
  const end = useMutation({
    mutationFn: ({ recipient, name }: { recipient: Recipient; name: string }) =>
      unshare(kind, id, recipient, name),
    onSuccess: keep,
  });
  const failure = shares.error ?? add.error ?? end.error;
  return (
    <div className="space-y-4">
      <AddShare
        editable={kind === "dataset" || kind === "board"}
        pending={add.isPending}
        onAdd={(recipient, name, right) => add.mutateAsync({ recipient, name, right })}
      />
      {failure && <ErrorNote error={failure} />}
      {shares.isPending && <SkeletonLines lines={2} label="Loading who has it" />}
      {shares.data?.shares.length === 0 && <p className="text-ink-3">Only you see it.</p>}
      {shares.data && shares.data.shares.length > 0 && (
        <ul aria-label="Who has it" className="divide-y rounded-md border">
          {shares.data.shares.map((one) => (
            <li key={`${one.recipient} ${one.name}`} className="flex items-center gap-3 px-3 py-1.5">
              <span className="min-w-0 flex-1 truncate">{named(one.recipient, one.name)}</span>
              <span className="text-ink-3 text-small">{one.right === "edit" ? "can edit" : "can see"}</span>
              <Button
                kind="quiet"
                disabled={end.isPending}
                aria-label={`Remove ${named(one.recipient, one.name)}`}
                onClick={() => end.mutate(one)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface AddShareProps {
  editable: boolean;
  pending: boolean;
  onAdd: (recipient: Recipient, name: string, right: Right) => Promise<unknown>;
}

function AddShare({ editable, pending, onAdd }: AddShareProps) {
  const [recipient, setRecipient] = useState<Recipient>("person");
  const [right, setRight] = useState<Right>("see");
  const [name, setName] = useState("");
  const everyone = recipient === "everyone";
  const sent = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await onAdd(recipient, everyone ? "" : name.trim(), right);
      setName("");
    } catch {
      // The dialog shows why; what was typed stays.
    }
  };
  return (
    <form onSubmit={sent} className="flex flex-wrap gap-2">
      <Select
        label="With whom"
        value={recipient}
        onChange={(event) => setRecipient(event.target.value as Recipient)}
      >
        <option value="person">Person</option>
        <option value="team">Team</option>
        <option value="everyone">Everyone here</option>
      </Select>
      {!everyone && (
        <Input
          label={recipient === "team" ? "Name of the team" : "Name of the person"}
          placeholder="Name"
          required
          maxLength={64}
          value={name}
          onChange={(event) => setName(event.target.value)}
          className="min-w-32 flex-1"
        />
      )}
      {editable && (
        <Select label="They can" value={right} onChange={(event) => setRight(event.target.value as Right)}>
          <option value="see">can see</option>
          <option value="edit">can edit</option>
        </Select>
      )}
      <Button type="submit" disabled={pending || (!everyone && name.trim() === "")}>
        Share
      </Button>
    </form>
  );
}

const named = (recipient: Recipient, name: string) =>
  recipient === "everyone" ? "Everyone here" : recipient === "team" ? `Team ${name}` : name;
