import { Users as UsersIcon } from "lucide-react";
import { Link, useSearchParams } from "react-router";
import { places } from "~/shell";
import { Empty, Tabs } from "~/ui";
import { SignedIn } from "./signed_in";
import { Teams } from "./teams";
import { Users } from "./users";

const SHOWN = "show";

/** Users and teams, for administrators. */
export default function PeoplePage() {
  const [parameters, setParameters] = useSearchParams();
  const shown = parameters.get(SHOWN) === "teams" ? "teams" : "users";
  const show = (id: string) =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        if (id === "users") after.delete(SHOWN);
        else after.set(SHOWN, id);
        return after;
      },
      { replace: true },
    );
  return (
    <SignedIn title="Users and teams">
      {(me) =>
        me.admin ? (
          <Tabs
            label="Users and teams"
            value={shown}
            onChange={show}
            className="-mx-3"
            contentClassName="px-3 pt-4"
            tabs={[
              { id: "users", title: "Users", content: <Users me={me.name} /> },
              { id: "teams", title: "Teams", content: <Teams /> },
            ]}
          />
        ) : (
          <Empty title="Only administrators see users and teams" icon={<UsersIcon aria-hidden />}>
            <Link to={places.account} className="text-accent underline">
              Open your account
            </Link>
          </Empty>
        )
      }
    </SignedIn>
  );
}
