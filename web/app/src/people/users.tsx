import { useQuery } from "@tanstack/react-query";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { usersQuery } from "~/api/accounts";
import { Button, Dialog, ErrorNote, SearchInput, SkeletonLines } from "~/ui";
import { AddUser } from "./add_user";
import { UserRow } from "./user_row";
import { usersWith } from "./user_words";

/** From so many on they can be searched. */
const MANY = 8;

export function Users({ me }: { me: string }) {
  const users = useQuery(usersQuery());
  const [text, setText] = useState("");
  const [adding, setAdding] = useState(false);
  const [said, setSaid] = useState("");
  const found = usersWith(text, users.data ?? []);
  return (
    <div className="space-y-4">
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="primary" onClick={() => setAdding(true)}>
          <UserPlus aria-hidden />
          Add a user
        </Button>
        {users.data && users.data.length >= MANY && (
          <SearchInput
            label="Find a user"
            placeholder="Name or team"
            className="min-w-40 flex-1"
            value={text}
            onText={setText}
          />
        )}
      </div>
      <p role="status" className={said ? "wrap-anywhere text-ink-2" : "sr-only"}>
        {said}
      </p>
      {users.isPending && <SkeletonLines lines={8} label="Loading users" />}
      {users.error && <ErrorNote error={users.error} onRetry={() => users.refetch()} />}
      {users.data && found.length === 0 && <p className="text-ink-2">No user has “{text.trim()}”.</p>}
      {found.length > 0 && (
        <ul aria-label="Users" className="divide-y rounded-md border">
          {found.map((user) => (
            <UserRow key={user.name} user={user} isSelf={user.name === me} onDone={setSaid} />
          ))}
        </ul>
      )}
      <Dialog
        open={adding}
        onOpenChange={setAdding}
        title="Add a user"
        description="People sign in by this name, and what they make is kept under it."
      >
        <AddUser onClose={() => setAdding(false)} />
      </Dialog>
    </div>
  );
}
