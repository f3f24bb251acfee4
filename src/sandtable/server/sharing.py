"""Sharing over REST: with whom a thread, a run, an added dataset, a kept question or a board is shared, and by whom."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from sandtable.accounts.asking import Asking, asking, audit
from sandtable.accounts.refusals import NotAllowed
from sandtable.accounts.shares import Kind, Recipient, Right, Share, Thing
from sandtable.assemble import Parts
from sandtable.conversations.conversation import Conversation
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.server.access.boards import SeenBoards
from sandtable.server.callers import NAME_PATTERN
from sandtable.server.errors import ErrorBody
from sandtable.server.lazy_conversation import Talking

router = APIRouter(tags=["sharing"])

_NAME = f"^({NAME_PATTERN})?$"
_ANSWERS: dict[int | str, dict[str, Any]] = {
    403: {"model": ErrorBody, "description": "It belongs to somebody else."},
    404: {"model": ErrorBody, "description": "No such thing."},
}
_EXAMPLES: dict[str, Any] = {
    "person": {"summary": "With a person", "value": {"recipient": "person", "name": "bob"}},
    "team": {"summary": "With a team", "value": {"recipient": "team", "name": "sales", "right": "see"}},
    "everyone": {"summary": "With everyone here", "value": {"recipient": "everyone"}},
}

ThingId = Annotated[str, Path(max_length=128, examples=["6f0d1c7e-3a51-4f0e-9a53-0c7a2f1f7d2b"])]


class Sharing(BaseModel):
    """Whether things belong to people here, and who asks."""

    model_config = ConfigDict(frozen=True)

    people: bool
    """False where everything belongs to everyone who reaches the server: there is nothing to share then."""
    user: str
    teams: tuple[str, ...]
    admin: bool


class ShareBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    recipient: Recipient
    name: str = Field("", pattern=_NAME, description="Of the person or the team; empty for everyone.")
    right: Right = Field("see", description="`edit` is for datasets and boards.")


class ShareView(BaseModel):
    model_config = ConfigDict(frozen=True)

    recipient: Recipient
    name: str
    right: Right
    shared_by: str
    at: str


class SharesView(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: Kind
    id: str
    owner: str
    """Empty for what belongs to everyone here."""
    may_share: bool
    """Whether it is the asking user's to share."""
    shares: tuple[ShareView, ...]
    """Empty for those with whom it is shared: they do not see with whom else."""


@router.get("/shares", operation_id="get_sharing", summary="Whether things belong to people here")
async def get_sharing() -> Sharing:
    principal = asking().principal
    # Without accounts, the machine itself is an administrator, and things belong to everyone all the same.
    people = principal.proof != "none" or not principal.sees_all
    return Sharing(
        people=people,
        user=principal.user if people else "",
        teams=tuple(sorted(principal.teams)),
        admin=principal.is_admin,
    )


@router.get(
    "/shares/{kind}/{thing_id}",
    operation_id="get_shares",
    summary="With whom something is shared",
    responses=_ANSWERS,
)
async def get_shares(request: Request, talk: Talking, kind: Kind, thing_id: ThingId) -> SharesView:
    return await _view(await _thing(request, talk, kind, thing_id))


@router.put(
    "/shares/{kind}/{thing_id}",
    operation_id="share",
    summary="Share something with a person, a team or everyone here",
    responses=_ANSWERS,
)
async def share(
    request: Request,
    talk: Talking,
    kind: Kind,
    thing_id: ThingId,
    body: Annotated[ShareBody, Body(openapi_examples=_EXAMPLES)],
) -> SharesView:
    """A thread or a run can be read, with its runs and what they showed; its dataset is not shared by that. A dataset
    can be asked about, and with `edit` changed. A kept question can be seen with its runs; a board with its questions,
    and with `edit` changed."""
    found, thing = asking(), await _thing(request, talk, kind, thing_id)
    _require_owner(found, thing)
    _require_sense(thing, body)
    await found.shares.put(thing, body.recipient, body.name, body.right, found.principal.user)
    _audited("shared", found, thing, body.recipient, body.name)
    return await _view(thing)


@router.delete(
    "/shares/{kind}/{thing_id}",
    operation_id="unshare",
    summary="End a share, at once",
    responses=_ANSWERS,
)
async def unshare(
    request: Request,
    talk: Talking,
    kind: Kind,
    thing_id: ThingId,
    recipient: Recipient,
    name: Annotated[str, Query(pattern=_NAME)] = "",
) -> SharesView:
    found, thing = asking(), await _thing(request, talk, kind, thing_id)
    _require_owner(found, thing)
    if not await found.shares.remove(thing, recipient, name):
        whom = "everyone here" if recipient == "everyone" else f"the {recipient} {quote(name)}"
        raise NotFound(
            f"it is not shared with {whom}", suggestion=f"GET /shares/{kind}/{thing_id} says with whom it is."
        )
    _audited("unshared", found, thing, recipient, name)
    return await _view(thing)


async def _thing(request: Request, talk: Conversation, kind: Kind, thing_id: str) -> Thing:
    """Raises NotFound for what may not be seen, and InvalidInput for what has no owner."""
    parts: Parts = request.app.state.parts
    if kind == "thread":
        return Thing(kind, thing_id, (await talk.thread(thing_id)).user)
    if kind == "run":
        return Thing(kind, thing_id, (await parts.runs.get(thing_id)).request.user)
    if kind == "question":
        return Thing(kind, thing_id, (await _boards(request).question(thing_id)).owner)
    if kind == "board":
        return Thing(kind, thing_id, (await _boards(request).get(thing_id)).owner)
    record = await asyncio.to_thread(parts.datasets.own.find, thing_id)
    if record is None:
        parts.datasets.get(thing_id)
    return Thing(kind, thing_id, record.owner if record else "")


def _boards(request: Request) -> SeenBoards:
    return request.app.state.parts.boards


async def _view(thing: Thing) -> SharesView:
    found = asking()
    may_share = thing.owner != "" and found.owns(thing.owner) and found.principal.may("share")
    shares = await found.shares.of(thing) if may_share else []
    return SharesView(
        kind=thing.kind,
        id=thing.id,
        owner=thing.owner,
        may_share=may_share,
        shares=tuple(map(_shown, shares)),
    )


def _shown(one: Share) -> ShareView:
    return ShareView(
        recipient=one.recipient, name=one.name, right=one.right, shared_by=one.shared_by, at=one.at
    )


def _require_owner(found: Asking, thing: Thing) -> None:
    if found.principal.sees_all and not found.principal.is_admin:
        raise InvalidInput(
            "everything on this server belongs to everyone who reaches it",
            suggestion="Let people sign in before you share with some of them; see docs/sharing.md.",
        )
    if not thing.owner:
        raise InvalidInput(
            f"{quote(thing.id)} belongs to everyone here already", suggestion="There is nothing to share."
        )
    if not found.owns(thing.owner) or not found.principal.may("share"):
        raise NotAllowed(
            f"only its owner shares this {thing.kind}", suggestion=f"Ask {thing.owner} to share it."
        )


def _require_sense(thing: Thing, body: ShareBody) -> None:
    if (body.recipient == "everyone") != (body.name == ""):
        raise InvalidInput(
            "a person and a team have a name, and everyone has none",
            suggestion='Send {"recipient": "person", "name": "bob"} or {"recipient": "everyone"}.',
            field="name",
        )
    if body.right == "edit" and thing.kind not in ("dataset", "board"):
        raise InvalidInput(
            f"a {thing.kind} can be shared to be read only", suggestion="Leave `right` out.", field="right"
        )
    if body.recipient == "person" and body.name == thing.owner:
        raise InvalidInput(
            "it belongs to that person already", suggestion="Name somebody else.", field="name"
        )


def _audited(what: str, found: Asking, thing: Thing, recipient: str, name: str) -> None:
    audit.info(
        what,
        who=found.principal.user,
        kind=thing.kind,
        id=thing.id,
        whose=thing.owner,
        recipient=recipient,
        name=name,
    )
