import type { ReactNode } from "react";
import { Link } from "react-router";
import type { Me } from "~/api/model";
import { places } from "~/shell";
import { KeyList } from "./key_list";
import { NewKey } from "./new_key";
import { PasswordForm } from "./password_form";
import { SessionList } from "./session_list";
import { SignedIn } from "./signed_in";

/** One's own account. */
export default function AccountPage() {
  return <SignedIn title="Your account">{(me) => <Account me={me} />}</SignedIn>;
}

function Account({ me }: { me: Me }) {
  return (
    <div className="space-y-8">
      <section aria-label="Who you are">
        <h2 className="break-all font-medium text-title">{me.name}</h2>
        <p className="text-ink-2">
          {me.admin ? "Administrator" : "User"}
          {me.teams.length > 0 && `, in ${me.teams.join(", ")}`}
          {me.proof === "proxy" && ", signed in by a proxy"}
        </p>
        {me.admin && (
          <Link to={places.people} className="text-accent underline">
            Users and teams
          </Link>
        )}
      </section>
      {me.has_password && (
        <Part title="Password" says="Changing it ends your other sessions. API keys stay.">
          <PasswordForm name={me.name} />
        </Part>
      )}
      {me.proof === "session" && (
        <Part title="Sessions" says="Where you are signed in.">
          <SessionList who={null} />
        </Part>
      )}
      <Part
        title="API keys"
        says="Programs send one as “Authorization: Bearer …”. A key never allows more than you may do."
      >
        <div className="space-y-4">
          <NewKey isAdmin={me.admin} />
          <KeyList who={null} />
        </div>
      </Part>
    </div>
  );
}

function Part({ title, says, children }: { title: string; says: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="font-medium text-title">{title}</h2>
      <p className="mb-3 text-ink-2">{says}</p>
      {children}
    </section>
  );
}
