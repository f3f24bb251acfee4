"""`POST /agui`: one run of the protocol, as server-sent events.

Invariant: what is wrong with a request is an HTTP error, and what goes wrong in the run is an event of its stream. The
turn ends with the connection, and never waits for the client. Which conversations the user may read and go on with, the
views of `server.access` decide.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated
from uuid import UUID, uuid5

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sandtable.assemble import Parts
from sandtable.conversations.conversation import Conversation, same_dataset
from sandtable.conversations.feed import Feed
from sandtable.conversations.model import Thread
from sandtable.conversations.running import EVENTS, RunningTurn, TurnOrder
from sandtable.conversations.told_before import exchanges_before
from sandtable.errors import ErrorCode, InvalidInput, NotFound, Problem
from sandtable.quoting import quote
from sandtable.server import logs
from sandtable.server.agui.asking import Work, asked_by
from sandtable.server.agui.bodies import LONGEST_ID, RunInput
from sandtable.server.agui.record import Record, record_of
from sandtable.server.callers import User
from sandtable.server.errors import error_response
from sandtable.server.lazy_conversation import Talking, known_dataset
from sandtable.server.sse import HEARTBEAT, EventStream

if TYPE_CHECKING:
    from sandtable.server.agui.encoder import RunEncoder

PATH = "/agui"
MOST_BEFORE = 200
"""Messages of a conversation that began elsewhere, which a new thread takes as context."""

_NAMES = UUID("9f0d6c1e-58a1-4a6f-8f0e-6d1a2b7c3e54")
"""The namespace of the ids that are made from names."""
_REFUSED = re.compile(r";\s*q=0(\.0*)?\s*$")
"""The end of a media range that is not accepted."""

router = APIRouter(include_in_schema=False)


@router.post(PATH)
async def run_agent(
    request: Request,
    talk: Talking,
    user: User,
    given: RunInput,
    dataset: Annotated[str | None, Query(min_length=1, max_length=LONGEST_ID)] = None,
) -> Response:
    """`?dataset=` is for clients that can only be given an address."""
    if not _takes_events(request.headers.getlist("accept")):
        return error_response(_NOT_ACCEPTED, request.scope, 406)
    encoder_class = await asyncio.to_thread(_load_encoder)
    thread_id = own_thread_id(given.thread_id, user)
    logs.bind(thread_id=thread_id)
    thread = await talk.store.get(thread_id)
    record = record_of(await talk.threads.state(thread_id)) if thread is not None else Record()
    asked = asked_by(given, record)
    if asked.work is None:
        if thread is None or not record.said:
            raise _nothing_to_do()
        encoder = encoder_class(given, thread.id, thread.dataset_id, None)
        return EventStream(_restated(encoder, record, asked.unknown))
    thread = await _thread(request.app.state.parts, talk, user, thread, thread_id, given, dataset)
    running, feed = await _begun(talk, user, thread, given, asked.work)
    encoder = encoder_class(given, thread.id, thread.dataset_id, asked.work)
    return EventStream(_frames(encoder, running, feed, asked.unknown))


def own_thread_id(given: str, user: str) -> str:
    """A UUID is the id of the thread, so that a conversation goes on over every protocol; any other id is the user's
    own name for one, and says nothing to others."""
    try:
        return str(UUID(given)) if len(given) == 36 else _named(given, user)
    except ValueError:
        return _named(given, user)


def _named(given: str, user: str) -> str:
    # A name of a user has no newline.
    return str(uuid5(_NAMES, f"{user}\n{given}"))


def _load_encoder() -> type[RunEncoder]:
    try:
        # Loads the protocol's types, which are an optional dependency.
        from sandtable.server.agui.encoder import RunEncoder
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "ag_ui":
            raise
        raise NotFound(
            "this server does not speak AG-UI: the package ag-ui-protocol is not installed",
            suggestion="Run `pip install 'sandtable[ag-ui]'` where the server is, and start it again.",
        ) from error
    return RunEncoder


async def _begun(
    talk: Conversation, user: str, thread: Thread, given: RunInput, work: Work
) -> tuple[RunningTurn, Feed]:
    assert thread.dataset_id is not None
    order = TurnOrder(
        thread,
        thread.dataset_id,
        user,
        messages=work.messages,
        answer=work.decision,
        details=EVENTS,
        opening=work.opening,
        history=() if thread.opening else exchanges_before(given.before[-MOST_BEFORE:], work.text or ""),
    )
    feed = Feed()
    return await talk.turns.begin(order, feed), feed


async def _thread(
    parts: Parts,
    talk: Conversation,
    user: str,
    thread: Thread | None,
    thread_id: str,
    given: RunInput,
    dataset: str | None,
) -> Thread:
    """The thread, about its dataset. Raises NotFound, and InvalidInput when it is about another one."""
    wanted = _dataset_of(parts, given, dataset)
    if thread is not None and thread.dataset_id is not None:
        if wanted is not None:
            same_dataset(thread, wanted, "Send another `threadId` to begin a conversation about it.")
        return thread
    if wanted is None:
        known = [each.id for each in parts.datasets.datasets()]
        if len(known) != 1:
            raise InvalidInput(
                "the run does not say which dataset it is about",
                suggestion='Send `forwardedProps` {"dataset": "…"}, or add ?dataset= to the address: one of '
                f"{', '.join(map(quote, known))}.",
                field="forwardedProps",
            )
        wanted = known[0]
    logs.bind(dataset_id=wanted)
    if thread is None:
        return await talk.new_thread(user, wanted, thread_id)
    return replace(thread, dataset_id=wanted)


def _dataset_of(parts: Parts, given: RunInput, dataset: str | None) -> str | None:
    named = given.forwarded("dataset") or dataset
    if named is None:
        return None
    if not isinstance(named, str):
        raise InvalidInput(
            "`forwardedProps.dataset` is not a text",
            suggestion="Send the id of a dataset; GET /datasets lists them.",
            field="forwardedProps",
        )
    return known_dataset(parts, named)


async def _restated(
    encoder: RunEncoder, record: Record, unknown: Sequence[str]
) -> AsyncGenerator[bytes, None]:
    yield encoder.framed(encoder.restate(record, unknown))


async def _frames(
    encoder: RunEncoder, running: RunningTurn, feed: Feed, unknown: Sequence[str]
) -> AsyncGenerator[bytes, None]:
    """Closing it cancels the turn."""
    try:
        yield encoder.framed(encoder.begin(unknown))
        async with aclosing(feed.read()) as events:
            async for together in events:
                made = [encoded for event in together for encoded in encoder.encode(event)]
                yield encoder.framed(made) or HEARTBEAT
        yield encoder.framed(encoder.end())
    finally:
        running.cancel()


def _takes_events(accept: Sequence[str]) -> bool:
    """Whether the client takes server-sent events. The protocol's binary form is not offered."""
    ranges = [one.strip() for one in ",".join(accept).lower().split(",") if one.strip()]
    taken = {one.partition(";")[0].strip() for one in ranges if not _REFUSED.search(one)}
    return not ranges or bool(taken & {"text/event-stream", "text/*", "*/*"})


_NOT_ACCEPTED = Problem(
    code=ErrorCode.VALIDATION_ERROR,
    message="the answer to a run is a stream of server-sent events, which the request does not accept",
    suggestion="Send `Accept: text/event-stream`.",
)


def _nothing_to_do() -> InvalidInput:
    return InvalidInput(
        "there is nothing to answer: the last message is not the user's, and this conversation has not begun",
        suggestion="Send a message with the role `user` as the last of `messages`.",
        field="messages",
    )
