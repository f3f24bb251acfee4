"""One's own account: who am I, my password, my API keys, my sessions."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from sandtable.accounts import audit
from sandtable.accounts.accounts import Accounts
from sandtable.accounts.refusals import NotAllowed
from sandtable.server.accounts import views
from sandtable.server.accounts.here import LIMITED, NOT_FOUND, Address, Here
from sandtable.server.callers import Asker

router = APIRouter(tags=["accounts"])

Id = Annotated[str, Path(max_length=64, examples=["5f0c9d3e8a7b4c21"])]


@router.get("/me", operation_id="get_me", summary="Who am I, and what may I do?")
async def get_me(request: Request, asker: Asker) -> views.Me:
    """Also says how the identity was proven: by a session, an API key, a trusted proxy, or not at all."""
    accounts: Accounts | None = request.app.state.accounts
    person = None if accounts is None else await accounts.people.find(asker.user)
    return views.Me.of(
        asker, signs_in=accounts is not None, has_password=person is not None and person.has_password
    )


@router.put(
    "/me/password",
    operation_id="change_password",
    summary="Change my password",
    status_code=204,
    responses=LIMITED,
)
async def change_password(
    body: views.PasswordBody, accounts: Here, asker: Asker, address: Address
) -> Response:
    """All other sessions end. API keys stay."""
    await accounts.change_password(asker, body.old, body.new, address)
    return Response(status_code=204)


@router.get("/me/keys", operation_id="list_my_keys", summary="My API keys", responses=NOT_FOUND)
async def list_keys(accounts: Here, asker: Asker) -> views.KeyList:
    return views.KeyList(keys=tuple(views.KeyView.of(key) for key in await accounts.keys.list(asker.user)))


@router.post(
    "/me/keys",
    operation_id="make_my_key",
    summary="Make an API key",
    status_code=201,
    responses=NOT_FOUND,
)
async def make_key(body: views.KeyBody, accounts: Here, asker: Asker, address: Address) -> views.NewKey:
    """The answer is the only one that holds the key."""
    if await accounts.people.find(asker.user) is None:
        raise NotAllowed(
            "this user has no account here, which an API key belongs to",
            suggestion="An administrator makes one: `sandtable user add NAME --no-password`.",
        )
    now = accounts.now()
    until = None if body.days is None else now + int(timedelta(days=body.days).total_seconds())
    key, token = await accounts.keys.add(asker.user, body.name, body.scopes, now, until)
    audit.note("key_made", by=asker.user, address=address, key=key.id, scopes=sorted(key.scopes))
    return views.NewKey(key=views.KeyView.of(key), token=token)


@router.delete(
    "/me/keys/{key_id}",
    operation_id="revoke_my_key",
    summary="Revoke an API key",
    status_code=204,
    responses=NOT_FOUND,
)
async def revoke_key(key_id: Id, accounts: Here, asker: Asker, address: Address) -> Response:
    key = await accounts.keys.revoke(key_id, asker.user)
    audit.note("key_revoked", by=asker.user, address=address, key=key.id)
    return Response(status_code=204)


@router.get(
    "/me/sessions", operation_id="list_my_sessions", summary="Where I am signed in", responses=NOT_FOUND
)
async def list_sessions(accounts: Here, asker: Asker) -> views.SessionList:
    found = await accounts.sessions.list(asker.user, accounts.now())
    return views.SessionList(
        sessions=tuple(views.SessionView.of(session, asker.proof_id) for session in found)
    )


@router.delete(
    "/me/sessions",
    operation_id="end_my_other_sessions",
    summary="Sign out everywhere else",
    status_code=204,
    responses=NOT_FOUND,
)
async def end_sessions(accounts: Here, asker: Asker, address: Address) -> Response:
    ended = await accounts.sessions.end_all(asker.user, but=asker.proof_id)
    audit.note("sessions_ended", by=asker.user, address=address, sessions_ended=ended)
    return Response(status_code=204)


@router.delete(
    "/me/sessions/{session_id}",
    operation_id="end_my_session",
    summary="End one of my sessions",
    status_code=204,
    responses=NOT_FOUND,
)
async def end_session(session_id: Id, accounts: Here, asker: Asker, address: Address) -> Response:
    await accounts.sessions.end(session_id, asker.user)
    audit.note("session_ended", by=asker.user, address=address, session=session_id)
    return Response(status_code=204)
