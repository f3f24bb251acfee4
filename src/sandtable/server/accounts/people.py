"""Users and teams, for administrators.

Invariant: a password that the server makes is in the one answer that made it, and in no log.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from sandtable.accounts import audit
from sandtable.accounts.accounts import Accounts
from sandtable.accounts.passwords import new_password
from sandtable.accounts.shares import Shares
from sandtable.errors import InvalidInput
from sandtable.server.accounts import views
from sandtable.server.accounts.here import NOT_FOUND, Address, Here
from sandtable.server.callers import Asker

router = APIRouter(tags=["accounts"], responses=NOT_FOUND)

User = Annotated[str, Path(max_length=64, examples=["ada"])]
Team = Annotated[str, Path(max_length=64, examples=["research"])]
Id = Annotated[str, Path(max_length=64, examples=["5f0c9d3e8a7b4c21"])]


@router.get("/users", operation_id="list_users", summary="All users")
async def list_users(accounts: Here) -> views.UserList:
    keys = Counter(key.user for key in await accounts.keys.list())
    return views.UserList(
        users=tuple(views.UserView.of(person, keys[person.name]) for person in await accounts.people.list())
    )


@router.post("/users", operation_id="add_user", summary="Add a user", status_code=201)
async def add_user(body: views.UserBody, accounts: Here, asker: Asker, address: Address) -> views.ChangedUser:
    """Without a password, the user can only use API keys or be named by a trusted proxy. With one, the first sign-in
    allows nothing but changing it."""
    made, hashed = await _password(accounts, body)
    person = await accounts.people.add(
        body.name,
        accounts.now(),
        password=hashed,
        must_change=hashed is not None and not body.keep_password,
        is_admin=body.admin,
        restore=body.restore,
    )
    audit.note("user_added", by=asker.user, address=address, user=person.name, admin=body.admin)
    return views.ChangedUser.with_password(views.UserView.of(person, keys=0), made)


@router.patch("/users/{name}", operation_id="change_user", summary="Change a user")
async def change_user(
    name: User, body: views.UserChanges, accounts: Here, asker: Asker, address: Address
) -> views.ChangedUser:
    """A new password and being disabled end the user's sessions."""
    person = await accounts.people.get(name)
    made, hashed = await _password(accounts, body)
    if hashed is not None and person.name == asker.user:
        raise InvalidInput("your own password needs the old one", suggestion="Use PUT /me/password.")
    # What may be refused comes first.
    if body.admin is not None:
        await accounts.people.set_admin(person.name, body.admin)
    if body.disabled is True:
        await accounts.people.disable(person.name)
    elif body.disabled is False:
        await accounts.people.enable(person.name)
    if hashed is not None:
        await accounts.people.set_password(person.name, hashed, must_change=not body.keep_password)
        await accounts.sessions.end_all(person.name)
    changed = sorted(body.model_dump(exclude_none=True, exclude_defaults=True))
    audit.note("user_changed", by=asker.user, address=address, user=person.name, changed=changed)
    user = views.UserView.of(
        await accounts.people.get(person.name), len(await accounts.keys.list(person.name))
    )
    return views.ChangedUser.with_password(user, made)


@router.delete("/users/{name}", operation_id="remove_user", summary="Remove a user", status_code=204)
async def remove_user(name: User, accounts: Here, asker: Asker, address: Address) -> Response:
    """Password, API keys, sessions and memberships are deleted. What the user made stays under the name."""
    person = await accounts.people.get(name)
    await accounts.people.remove(person.name, accounts.now())
    audit.note("user_removed", by=asker.user, address=address, user=person.name)
    return Response(status_code=204)


@router.get("/users/{name}/keys", operation_id="list_keys_of_user", summary="A user's API keys")
async def list_keys(name: User, accounts: Here) -> views.KeyList:
    person = await accounts.people.get(name)
    return views.KeyList(keys=tuple(map(views.KeyView.of, await accounts.keys.list(person.name))))


@router.delete(
    "/users/{name}/keys/{key_id}",
    operation_id="revoke_key_of_user",
    summary="Revoke a user's API key",
    status_code=204,
)
async def revoke_key(name: User, key_id: Id, accounts: Here, asker: Asker, address: Address) -> Response:
    person = await accounts.people.get(name)
    key = await accounts.keys.revoke(key_id, person.name)
    audit.note("key_revoked", by=asker.user, address=address, user=person.name, key=key.id)
    return Response(status_code=204)


@router.get(
    "/users/{name}/sessions", operation_id="list_sessions_of_user", summary="Where a user is signed in"
)
async def list_sessions(name: User, accounts: Here, asker: Asker) -> views.SessionList:
    person = await accounts.people.get(name)
    found = await accounts.sessions.list(person.name, accounts.now())
    return views.SessionList(
        sessions=tuple(views.SessionView.of(session, asker.proof_id) for session in found)
    )


@router.delete(
    "/users/{name}/sessions",
    operation_id="end_sessions_of_user",
    summary="Sign a user out everywhere",
    status_code=204,
)
async def end_sessions(name: User, accounts: Here, asker: Asker, address: Address) -> Response:
    """All sessions of the user end, but for the one that this request comes from."""
    person = await accounts.people.get(name)
    ended = await accounts.sessions.end_all(person.name, but=asker.proof_id)
    audit.note("sessions_ended", by=asker.user, address=address, user=person.name, sessions_ended=ended)
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
async def remove_team(
    request: Request, name: Team, accounts: Here, asker: Asker, address: Address
) -> Response:
    """What was shared with the team is no longer shared with it: a later team of the name is another one."""
    shares: Shares = request.app.state.shares
    team = await accounts.teams.get(name)
    await shares.forget_team(team.name)
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


async def _password(
    accounts: Accounts, body: views.UserBody | views.UserChanges
) -> tuple[str | None, str | None]:
    """The password that the server makes, if it is to make one, and the hash of the new password, if there is one.
    Raises InvalidInput, QueueFull."""
    if body.make_password and body.password is not None:
        raise InvalidInput(
            "a password is given, and another one is to be made",
            suggestion="Leave one of `password` and `make_password` out.",
            field="password",
        )
    made = new_password() if body.make_password else None
    given = made or body.password
    return made, None if given is None else await accounts.passwords.hash(given)
