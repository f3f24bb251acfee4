import { useMutation, useQuery } from "@tanstack/react-query";
import { LogOut, UserRound, Users } from "lucide-react";
import { useNavigate } from "react-router";
import { meQuery } from "~/api/queries";
import { signOut } from "~/api/rest";
import { places } from "~/shell/places";
import { Button, Menu, MenuHeading, MenuItem } from "~/ui";

/** Who is signed in, and the pages about people. Nothing where no one signs in. */
export function AccountMenu({ onGo }: { onGo?: (() => void) | undefined }) {
  const me = useQuery(meQuery()).data;
  const go = useNavigate();
  // A new page, so that nothing of the one who was here is left in it.
  const leave = useMutation({ mutationFn: signOut, onSettled: () => location.assign("/login") });
  if (!me?.signs_in) return null;
  const open = (place: string) => () => {
    go(place);
    onGo?.();
  };
  return (
    <Menu
      trigger={
        <Button kind="quiet" size="icon" aria-label={`Account of ${me.name}`}>
          <UserRound />
        </Button>
      }
    >
      <MenuHeading>{me.admin ? `${me.name}, administrator` : me.name}</MenuHeading>
      <MenuItem onSelect={open(places.account)}>
        <UserRound aria-hidden />
        Your account
      </MenuItem>
      {me.admin && (
        <MenuItem onSelect={open(places.people)}>
          <Users aria-hidden />
          Users and teams
        </MenuItem>
      )}
      {me.proof === "session" && (
        <MenuItem onSelect={() => leave.mutate()}>
          <LogOut aria-hidden />
          Sign out
        </MenuItem>
      )}
    </Menu>
  );
}
