// What an administrator can do with a user: which acts fit, and what each says before it is done.
import { changeUser, endSessions, removeUser } from "~/api/accounts";
import type { ChangedUser, User } from "~/api/model";

export interface Act {
  id: "promote" | "demote" | "password" | "sessions" | "disable" | "enable" | "remove";
  /** In the menu of the user. */
  item: string;
  /** What it does, asked about before it is done. */
  title: string;
  says: string;
  button: string;
  danger: boolean;
  /** What is said when it is done. */
  done: string;
  run: () => Promise<ChangedUser | null>;
}

export function actsOn(user: User, isSelf: boolean): readonly Act[] {
  return [
    roleAct(user, isSelf),
    ...(isSelf ? [] : [passwordAct(user)]),
    sessionsAct(user.name, isSelf),
    user.disabled ? enableAct(user.name) : disableAct(user.name, isSelf),
    removeAct(user.name, isSelf),
  ];
}

function roleAct({ name, admin }: User, isSelf: boolean): Act {
  const run = () => changeUser(name, { admin: !admin });
  if (!admin) {
    return {
      id: "promote",
      item: "Make administrator",
      title: `Make ${name} an administrator?`,
      says: "An administrator sees what everyone made, and manages users and teams.",
      button: "Make administrator",
      danger: false,
      done: `${name} is an administrator.`,
      run,
    };
  }
  return {
    id: "demote",
    item: "Make ordinary user",
    title: `Make ${name} an ordinary user?`,
    says: isSelf
      ? "You will no longer see this page, nor what others made and did not share."
      : "An ordinary user sees what is their own and what is shared with them.",
    button: "Make ordinary user",
    danger: isSelf,
    done: `${name} is an ordinary user.`,
    run,
  };
}

const passwordAct = ({ name, has_password }: User): Act => ({
  id: "password",
  item: has_password ? "New password" : "Give a password",
  title: has_password ? `Make a new password for ${name}?` : `Make a password for ${name}?`,
  says: "The server makes one and shows it once. All sessions of the user end; API keys stay.",
  button: "Make a password",
  danger: false,
  done: `${name} has a new password.`,
  run: () => changeUser(name, { make_password: true }),
});

const sessionsAct = (name: string, isSelf: boolean): Act => ({
  id: "sessions",
  item: "End sessions",
  title: `End the sessions of ${name}?`,
  says: isSelf
    ? "You are signed out everywhere but here."
    : "The user is signed out everywhere, and can sign in again. API keys stay.",
  button: "End sessions",
  danger: false,
  done: isSelf ? "Your other sessions ended." : `The sessions of ${name} ended.`,
  run: () => endSessions(name),
});

const disableAct = (name: string, isSelf: boolean): Act => ({
  id: "disable",
  item: "Disable",
  title: `Disable ${name}?`,
  says: isSelf
    ? "You are signed out at once, and another administrator has to let you in again."
    : "Sessions end at once, and API keys are refused. What the user made stays.",
  button: "Disable",
  danger: true,
  done: `${name} is disabled.`,
  run: () => changeUser(name, { disabled: true }),
});

const enableAct = (name: string): Act => ({
  id: "enable",
  item: "Enable",
  title: `Enable ${name}?`,
  says: "The user can sign in again, and API keys work again.",
  button: "Enable",
  danger: false,
  done: `${name} can sign in again.`,
  run: () => changeUser(name, { disabled: false }),
});

const removeAct = (name: string, isSelf: boolean): Act => ({
  id: "remove",
  item: "Remove",
  title: `Remove ${name}?`,
  says: `Password, API keys, sessions and memberships${isSelf ? " of yours" : ""} are deleted. What the user made stays under the name, which no other person gets.`,
  button: "Remove",
  danger: true,
  done: `${name} was removed.`,
  run: () => removeUser(name),
});
