// One's own account, and what administrators do with users and teams.
import { queryOptions } from "@tanstack/react-query";
import { at, request } from "./http";
import type { ApiKey, ChangedUser, KeyScope, NewKey, SignedInSession, Team, User } from "./model";

/** What one person sees; `null` in place of a name is oneself. */
export type Who = string | null;

const account = (who: Who, ...rest: string[]) =>
  who === null ? at("me", ...rest) : at("users", who, ...rest);

export const accountKeys = {
  users: ["accounts", "users"] as const,
  teams: ["accounts", "teams"] as const,
  keys: (who: Who) => ["accounts", "keys", who] as const,
  sessions: (who: Who) => ["accounts", "sessions", who] as const,
};

export const usersQuery = () =>
  queryOptions({
    queryKey: accountKeys.users,
    queryFn: ({ signal }) => request<{ users: User[] }>("/users", { signal }).then((answer) => answer.users),
  });

export const teamsQuery = () =>
  queryOptions({
    queryKey: accountKeys.teams,
    queryFn: ({ signal }) => request<{ teams: Team[] }>("/teams", { signal }).then((answer) => answer.teams),
  });

export const apiKeysQuery = (who: Who) =>
  queryOptions({
    queryKey: accountKeys.keys(who),
    queryFn: ({ signal }) =>
      request<{ keys: ApiKey[] }>(account(who, "keys"), { signal }).then((answer) => answer.keys),
  });

export const sessionsQuery = (who: Who) =>
  queryOptions({
    queryKey: accountKeys.sessions(who),
    queryFn: ({ signal }) =>
      request<{ sessions: SignedInSession[] }>(account(who, "sessions"), { signal }).then(
        (answer) => answer.sessions,
      ),
  });

export const makeKey = (name: string, scopes: KeyScope[], days: number | null) =>
  request<NewKey>("/me/keys", { body: { name, scopes, days } });

export const revokeKey = (who: Who, keyId: string) =>
  request<null>(account(who, "keys", keyId), { method: "DELETE" });

export const endSession = (sessionId: string) =>
  request<null>(at("me", "sessions", sessionId), { method: "DELETE" });

/** All but the one that asks. */
export const endSessions = (who: Who) => request<null>(account(who, "sessions"), { method: "DELETE" });

export const changePassword = (old: string, fresh: string) =>
  request<null>("/me/password", { method: "PUT", body: { old, new: fresh } });

export interface NewUser {
  name: string;
  admin: boolean;
  make_password: boolean;
  restore: boolean;
}

export const addUser = (user: NewUser) => request<ChangedUser>("/users", { body: user });

export interface UserChanges {
  admin?: boolean;
  disabled?: boolean;
  make_password?: boolean;
}

export const changeUser = (name: string, changes: UserChanges) =>
  request<ChangedUser>(at("users", name), { method: "PATCH", body: changes });

export const removeUser = (name: string) => request<null>(at("users", name), { method: "DELETE" });

export const addTeam = (name: string) => request<Team>("/teams", { body: { name } });

export const removeTeam = (name: string) => request<null>(at("teams", name), { method: "DELETE" });

export const addMember = (team: string, user: string) =>
  request<Team>(at("teams", team, "members", user), { method: "PUT" });

export const removeMember = (team: string, user: string) =>
  request<Team>(at("teams", team, "members", user), { method: "DELETE" });
