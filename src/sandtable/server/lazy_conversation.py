"""The conversation that a server offers, opened while the server already listens.

Invariant: a server listens before the conversation's libraries are loaded; an early request waits for them. After a
failure to open, the next request tries again.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated

import structlog
from fastapi import Depends, Request

from sandtable.assemble import Parts
from sandtable.conversations.conversation import LONGEST_ID, Conversation, RunsNamedBy
from sandtable.errors import NotFound, SandtableError

log = structlog.get_logger("sandtable.server")

Open = Callable[[Parts], AbstractAsyncContextManager[Conversation]]
View = Callable[[Conversation], Conversation]


def _as_it_is(conversation: Conversation) -> Conversation:
    return conversation


def _load() -> Open:
    from sandtable.server.opening import (
        open_conversation,  # loads LangGraph, while the server prepares other things
    )

    return open_conversation


def load_ahead() -> None:
    """Starts to load the conversation's libraries on a thread; a later import waits for what is left."""
    threading.Thread(target=_load, name="load-conversation", daemon=True).start()


class LazyConversation:
    def __init__(self, parts: Parts, open_one: Open | None = None, view: View = _as_it_is) -> None:
        """`view`: what `get` gives of the conversation."""
        self._parts = parts
        self._open = open_one
        self._view = view
        self._opened: asyncio.Future[Conversation] | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def begin(self) -> None:
        """Starts to open, and does not wait for it."""
        if self._opened is not None and (not self._opened.done() or self._is_open(self._opened)):
            return
        self._opened = asyncio.get_running_loop().create_future()
        opened = self._opened
        self._task = asyncio.create_task(self._hold(opened), name="conversation")
        self._task.add_done_callback(lambda task: _pass_on_failure(task, opened))

    @staticmethod
    def _is_open(opened: asyncio.Future[Conversation]) -> bool:
        return not opened.cancelled() and opened.exception() is None

    async def get(self) -> Conversation:
        """Raises what opening raised: StoreUnavailable, InvalidInput."""
        return self._view(await self.whole())

    async def runs_named_by(self) -> RunsNamedBy:
        return (await self.whole()).runs_named_by

    async def whole(self) -> Conversation:
        """All of it, for the server itself; raises as `get` does."""
        self.begin()
        assert self._opened is not None
        return await asyncio.shield(self._opened)

    @property
    def opened(self) -> Conversation | None:
        """The conversation, if it is open."""
        opened = self._opened
        return opened.result() if opened is not None and opened.done() and self._is_open(opened) else None

    @property
    def trouble(self) -> str | None:
        """Why the last attempt to open failed; None while it is being opened, and once it is open."""
        if self._opened is None or not self._opened.done() or self._opened.cancelled():
            return None
        error = self._opened.exception()
        if error is None:
            return None
        return error.message if isinstance(error, SandtableError) else "the log has the cause"

    async def probe(self) -> None:
        """Reads and writes the conversation's databases, once it is open. Raises StoreUnavailable, StoreCorrupt."""
        conversation = self.opened
        for probe in conversation.probes if conversation is not None else ():
            await probe()

    async def aclose(self) -> None:
        self._closing.set()
        if self._task is not None:
            # `get` has raised why it did not open.
            await asyncio.gather(self._task, return_exceptions=True)

    async def _hold(self, opened: asyncio.Future[Conversation]) -> None:
        """Opens and closes in one task, as context managers require."""
        open_one = self._open or await asyncio.to_thread(_load)
        async with open_one(self._parts) as conversation:
            opened.set_result(conversation)
            await self._closing.wait()


def _pass_on_failure(task: asyncio.Task[None], opened: asyncio.Future[Conversation]) -> None:
    """Requests that wait get the failure; the log gets the traceback of an unexpected one."""
    if opened.done():
        return
    if task.cancelled():
        opened.cancel()
        return
    error = task.exception()
    assert error is not None
    known = isinstance(error, SandtableError)
    log.error(
        "conversation_not_opened", reason=str(error) if known else None, exc_info=None if known else error
    )
    opened.set_exception(error)
    # Marks it as retrieved: `begin` at the server's start does not await the future.
    opened.exception()


async def _conversation(request: Request) -> Conversation:
    conversation: LazyConversation = request.app.state.conversation
    return await conversation.get()


Talking = Annotated[Conversation, Depends(_conversation)]
"""For a route: the conversation, opened."""


def known_dataset(parts: Parts, dataset_id: str) -> str:
    """Raises NotFound with the nearest name."""
    if len(dataset_id) > LONGEST_ID:
        raise NotFound("the name is longer than that of any dataset", suggestion="GET /datasets lists them.")
    return parts.datasets.get(dataset_id).id
