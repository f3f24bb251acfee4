"""Users and teams, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from sandtable.accounts import audit
from sandtable.errors import InvalidInput
from sandtable.server.accounts import views
from sandtable.server.accounts.here import NOT_FOUND, Address, Here
from sandtable.server.callers import Asker

router = APIRouter(tags=["accounts"], responses=NOT_FOUND)

User = Annotated[str, Path(max_length=64, examples=["ada"])]
Team = Annotated[str, Path(max_length=64, examples=["research"])]


@router.get("/users", operation_id="list_users", summary="All users")
async def list_users(accounts: Here) -> views.UserList:
    return views.UserList(users=tuple(map(views.UserView.of, await accounts.people.list())))


@router.post("/users", operation_id="add_user", summary="Add a user", status_code=201)
async def add_user(body: views.UserBody, accounts: Here, asker: Asker, address: Address) -> views.UserView:
    """Without a password, the user can only use API keys or be named by a trusted proxy."""
    hashed = None if body.password is None else await accounts.passwords.hash(body.password)
    person = await accounts.people.add(
        body.name, accounts.now(), password=hashed, is_admin=body.admin, restore=body.restore
    )
    audit.note("user_added", by=asker.user, address=address, user=person.name, admin=body.admin)
    return views.UserView.of(person)


@router.patch("/users/{name}", operation_id="change_user", summary="Change a user")
async def change_user(
    name: User, body: views.UserChanges, accounts: Here, asker: Asker, address: Address
) -> views.UserView:
    """A new password and being disabled end the user's sessions."""
    person = await accounts.people.get(name)
    if body.password is not None:
        if person.name == asker.user:
            raise InvalidInput("your own password needs the old one", suggestion="Use PUT /me/password.")
        await accounts.people.set_password(person.name, await accounts.passwords.hash(body.password))
        await accounts.sessions.end_all(person.name)
    if body.admin is not None:
        await accounts.people.set_admin(person.name, body.admin)
    if body.disabled is True:
        await accounts.people.disable(person.name)
    elif body.disabled is False:
        await accounts.people.enable(person.name)
    changed = sorted(body.model_dump(exclude_none=True))
    audit.note("user_changed", by=asker.user, address=address, user=person.name, changed=changed)
    return views.UserView.of(await accounts.people.get(person.name))


@router.delete("/users/{name}", operation_id="remove_user", summary="Remove a user", status_code=204)
async def remove_user(name: User, accounts: Here, asker: Asker, address: Address) -> Response:
    """Password, API keys, sessions and memberships are deleted. What the user made stays under the name."""
    person = await accounts.people.get(name)
    await accounts.people.remove(person.name, accounts.now())
    audit.note("user_removed", by=asker.user, address=address, user=person.name)
    return Response(status_code=204)


@router.get("/teams", operation_id="list_teams", summary="All teams")
async def list_teams(accounts: Here) -> views.TeamList:
    return views.TeamList(teams=tuple(map(views.TeamView.of, await accounts.teams.list())))


@router.post("/teams", operation_id="add_team", summary="Add a team", status_code=201)
async def add_team(body: views.TeamBody, accounts: Here, asker: Asker, address: Address) -> views.TeamView:
    team = await accounts.teams.add(body.name, accounts.now())
    audit.note("team_added", by=asker.user, address=address, team=team.name)
    return views.TeamView.of(team)


@router.delete("/teams/{name}", operation_id="remove_team", summary="Remove a team", status_code=204)
async def remove_team(name: Team, accounts: Here, asker: Asker, address: Address) -> Response:
    team = await accounts.teams.get(name)
    await accounts.teams.remove(team.name)
    audit.note("team_removed", by=asker.user, address=address, team=team.name)
    return Response(status_code=204)


@router.put("/teams/{name}/members/{user}", operation_id="add_member", summary="Put a user into a team")
async def add_member(
    name: Team, user: User, accounts: Here, asker: Asker, address: Address
) -> views.TeamView:
    team, person = await accounts.teams.get(name), await accounts.people.get(user)
    await accounts.teams.join(team.name, person.name)
    audit.note("team_joined", by=asker.user, address=address, team=team.name, user=person.name)
    return views.TeamView.of(await accounts.teams.get(team.name))


@router.delete(
    "/teams/{name}/members/{user}", operation_id="remove_member", summary="Take a user out of a team"
)
async def remove_member(
    name: Team, user: User, accounts: Here, asker: Asker, address: Address
) -> views.TeamView:
    team, person = await accounts.teams.get(name), await accounts.people.get(user)
    await accounts.teams.leave(team.name, person.name)
    audit.note("team_left", by=asker.user, address=address, team=team.name, user=person.name)
    return views.TeamView.of(await accounts.teams.get(team.name))
