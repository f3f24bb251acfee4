import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Users as UsersIcon } from "lucide-react";
import { type FormEvent, useState } from "react";
import { accountKeys, addTeam, teamsQuery, usersQuery } from "~/api/accounts";
import { Button, Empty, ErrorNote, Field, SkeletonLines } from "~/ui";
import { TeamCard } from "./team_card";
import { wrongIn } from "./wrong";

export function Teams() {
  const teams = useQuery(teamsQuery());
  const users = useQuery(usersQuery());
  const error = teams.error ?? users.error;
  return (
    <div className="space-y-4">
      <NewTeam />
      {teams.isPending && <SkeletonLines lines={6} label="Loading teams" />}
      {error && <ErrorNote error={error} onRetry={() => Promise.all([teams.refetch(), users.refetch()])} />}
      {teams.data?.length === 0 && (
        <Empty title="There are no teams" icon={<UsersIcon aria-hidden />}>
          <p>Data, conversations and runs can be shared with a team, in place of each of its members.</p>
        </Empty>
      )}
      {teams.data?.map((team) => (
        <TeamCard key={team.name} team={team} users={users.data ?? []} />
      ))}
    </div>
  );
}

function NewTeam() {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const add = useMutation({
    mutationFn: () => addTeam(name.trim()),
    onSuccess: () => {
      setName("");
      return client.invalidateQueries({ queryKey: accountKeys.teams });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  const { fields, rest } = wrongIn(add.error, ["name"]);
  return (
    <form onSubmit={submit} className="space-y-2">
      <div className="flex flex-wrap items-start gap-2">
        <Field
          label="Name of a new team"
          className="min-w-40 max-w-sm flex-1"
          required
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
        {/* As far down as the field, which has a label above it. */}
        <Button type="submit" className="mt-6" disabled={add.isPending}>
          Add the team
        </Button>
      </div>
      {rest !== null && <ErrorNote error={rest} />}
    </form>
  );
}
