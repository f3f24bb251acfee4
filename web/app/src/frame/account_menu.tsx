import { useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound, LogOut, UserRound } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { meQuery } from "~/api/queries";
import { signOut } from "~/api/rest";
import { Button, Menu, MenuHeading, MenuItem } from "~/ui";

const AccountKeys = lazy(() => import("./account_keys"));

/** Who is signed in. Nothing where no one signs in. */
export function AccountMenu() {
  const me = useQuery(meQuery()).data;
  const [showsKeys, setShowsKeys] = useState(false);
  // A new page, so that nothing of the one who was here is left in it.
  const leave = useMutation({ mutationFn: signOut, onSettled: () => location.assign("/login") });
  if (!me?.signs_in) return null;
  return (
    <>
      <Menu
        trigger={
          <Button kind="quiet" size="icon" aria-label={`Account of ${me.name}`}>
            <UserRound />
          </Button>
        }
      >
        <MenuHeading>{me.admin ? `${me.name}, administrator` : me.name}</MenuHeading>
        <MenuItem onSelect={() => setShowsKeys(true)}>
          <KeyRound aria-hidden />
          API keys
        </MenuItem>
        {me.proof === "session" && (
          <MenuItem onSelect={() => leave.mutate()}>
            <LogOut aria-hidden />
            Sign out
          </MenuItem>
        )}
      </Menu>
      {showsKeys && (
        <Suspense fallback={null}>
          <AccountKeys isAdmin={me.admin} onClose={() => setShowsKeys(false)} />
        </Suspense>
      )}
    </>
  );
}
