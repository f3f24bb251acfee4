import { Ellipsis } from "lucide-react";
import { Fragment, type ReactNode, useRef, useState } from "react";
import type { User } from "~/api/model";
import { ago, count } from "~/format";
import { classes, Dialog, IconButton, Menu, MenuItem, MenuLine } from "~/ui";
import { ActDialog } from "./act_dialog";
import { type Act, actsOn } from "./acts";
import { KeyList } from "./key_list";
import { SessionList } from "./session_list";
import { instant, signsInWith } from "./user_words";

interface UserRowProps {
  user: User;
  isSelf: boolean;
  onDone: (said: string) => void;
}

/** One user: who it is, and in a menu what an administrator can do. */
export function UserRow({ user, isSelf, onDone }: UserRowProps) {
  const [act, setAct] = useState<Act | null>(null);
  const [access, setAccess] = useState(false);
  const actions = useRef<HTMLButtonElement>(null);
  const closed = () => {
    setAct(null);
    setAccess(false);
    // The dialog gives the focus back to the item of the menu, which is gone.
    setTimeout(() => actions.current?.focus(), 0);
  };
  return (
    <li className="flex items-start gap-2 px-3 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className={classes("break-all font-medium", user.disabled && "text-ink-2")}>{user.name}</span>
          {isSelf && <span className="text-ink-3 text-small">you</span>}
          {user.admin && <Mark className="bg-accent-soft text-accent">Administrator</Mark>}
          {user.disabled && <Mark className="bg-warning-soft text-warning">Disabled</Mark>}
        </p>
        <p className="mt-0.5 flex flex-wrap gap-x-3 break-words text-ink-2 text-small">
          <span>Signs in with {signsInWith(user)}</span>
          <LastSignIn at={user.signed_in_at} />
          {user.must_change_password && <span>Must change the password</span>}
          {user.keys > 0 && <span>{count(user.keys, "API key")}</span>}
          {user.teams.length > 0 && <span>In {user.teams.join(", ")}</span>}
        </p>
      </div>
      <Menu
        align="end"
        trigger={
          <IconButton ref={actions} label={`Actions for ${user.name}`} size="smallIcon">
            <Ellipsis />
          </IconButton>
        }
      >
        {/* After the menu is gone: it would take the focus from the dialog. */}
        <MenuItem onSelect={() => setTimeout(() => setAccess(true), 0)}>Keys and sessions</MenuItem>
        <MenuLine />
        {actsOn(user, isSelf).map((each) => (
          <Fragment key={each.id}>
            {each.id === "remove" && <MenuLine />}
            <MenuItem danger={each.id === "remove"} onSelect={() => setTimeout(() => setAct(each), 0)}>
              {each.item}
            </MenuItem>
          </Fragment>
        ))}
      </Menu>
      {act && <ActDialog act={act} name={user.name} isSelf={isSelf} onClose={closed} onDone={onDone} />}
      <Dialog open={access} onOpenChange={closed} title={`Keys and sessions of ${user.name}`}>
        <div className="space-y-4">
          <section aria-label="API keys">
            <h3 className="mb-1 font-medium">API keys</h3>
            <KeyList who={user.name} />
          </section>
          <section aria-label="Sessions">
            <h3 className="mb-1 font-medium">Sessions</h3>
            <SessionList who={user.name} />
          </section>
        </div>
      </Dialog>
    </li>
  );
}

const Mark = ({ className, children }: { className: string; children: ReactNode }) => (
  <span className={classes("rounded px-1.5 text-small", className)}>{children}</span>
);

function LastSignIn({ at }: { at: number | null }) {
  if (at === null) return <span>Never signed in</span>;
  const { text, raw } = ago(instant(at));
  return <span title={raw}>Last sign-in {text}</span>;
}
