import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { accountKeys, addMember, removeMember, removeTeam } from "~/api/accounts";
import type { Team, User } from "~/api/model";
import { keys } from "~/api/queries";
import { count } from "~/format";
import { Button, Dialog, ErrorNote, IconButton, Select } from "~/ui";

/** Who is asked again when a team changes: memberships are also with the users, and one's own with oneself. */
const CHANGED = [accountKeys.teams, accountKeys.users, keys.me];

function useChanges() {
  const client = useQueryClient();
  return () => Promise.all(CHANGED.map((queryKey) => client.invalidateQueries({ queryKey })));
}

export function TeamCard({ team, users }: { team: Team; users: readonly User[] }) {
  const changed = useChanges();
  const leave = useMutation({
    mutationFn: (user: string) => removeMember(team.name, user),
    onSuccess: changed,
  });
  return (
    <section aria-label={`Team ${team.name}`} className="space-y-3 rounded-md border p-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h2 className="break-all font-medium">{team.name}</h2>
          <p className="text-ink-2 text-small">{count(team.members.length, "member")}</p>
        </div>
        <RemoveTeam name={team.name} />
      </header>
      {team.members.length > 0 && (
        <ul aria-label={`Members of ${team.name}`} className="flex flex-wrap gap-2">
          {team.members.map((member) => (
            <li key={member} className="flex max-w-full items-center gap-1 rounded-md border bg-panel pl-2">
              <span className="min-w-0 truncate">{member}</span>
              <IconButton
                label={`Take ${member} out of ${team.name}`}
                size="smallIcon"
                disabled={leave.isPending}
                onClick={() => leave.mutate(member)}
              >
                <X />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {leave.error && <ErrorNote error={leave.error} />}
      <AddMember team={team} users={users} />
    </section>
  );
}

function AddMember({ team, users }: { team: Team; users: readonly User[] }) {
  const changed = useChanges();
  const [chosen, setChosen] = useState("");
  const join = useMutation({
    mutationFn: (user: string) => addMember(team.name, user),
    onSuccess: () => {
      setChosen("");
      return changed();
    },
  });
  const others = users.filter((user) => !team.members.includes(user.name));
  if (others.length === 0) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    join.mutate(chosen);
  };
  return (
    <form onSubmit={submit} className="space-y-2">
      <div className="flex flex-wrap gap-2">
        <Select
          label={`User to add to ${team.name}`}
          className="min-w-0 max-w-full"
          value={chosen}
          onChange={(event) => setChosen(event.target.value)}
        >
          <option value="">Choose a user</option>
          {others.map((user) => (
            <option key={user.name} value={user.name}>
              {user.name}
            </option>
          ))}
        </Select>
        <Button type="submit" disabled={chosen === "" || join.isPending}>
          Add to the team
        </Button>
      </div>
      {join.error && <ErrorNote error={join.error} />}
    </form>
  );
}

function RemoveTeam({ name }: { name: string }) {
  const changed = useChanges();
  const [open, setOpen] = useState(false);
  const remove = useMutation({ mutationFn: () => removeTeam(name), onSuccess: changed });
  return (
    <>
      <IconButton label={`Remove the team ${name}`} size="smallIcon" onClick={() => setOpen(true)}>
        <Trash2 />
      </IconButton>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Remove the team ${name}?`}
        description="Its members keep their accounts and lose what only the team let them see."
      >
        <div className="space-y-3">
          {remove.error && <ErrorNote error={remove.error} />}
          <div className="flex flex-wrap gap-2">
            <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Remove it
            </Button>
            <Button onClick={() => setOpen(false)}>Keep it</Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
