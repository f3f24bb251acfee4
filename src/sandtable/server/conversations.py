"""The conversation a server offers: an analyst, its memory and the order of turns, opened beside the server.

Invariant: a server listens before the conversation's libraries are loaded; whoever asks earlier waits for
them. What could not be opened is tried again with the next question.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import structlog
from fastapi import Depends, Request

from sandtable.assemble import Parts
from sandtable.errors import InvalidInput, NotFound, SandtableError
from sandtable.quoting import quote
from sandtable.runs.quotas import Quotas
from sandtable.server.threads.line import Line
from sandtable.server.threads.model import Thread, now
from sandtable.server.threads.store import ThreadStore, no_thread

if TYPE_CHECKING:
    from sandtable.agent.analyst import Analyst
    from sandtable.server.langgraph.conductor import Conductor

# By name: what it imports takes a second to load, and is loaded while the server prepares other things.
_MODULE = "sandtable.server.opening"
_OPEN = f"{_MODULE}:open_conversation"


LONGEST_ID = 128
Probe = Callable[[], Awaitable[None]]
"""Reads and writes a store, and changes nothing. Raises StoreUnavailable, StoreCorrupt."""


@dataclass(frozen=True, slots=True)
class Conversation:
    analyst: Analyst
    conductor: Conductor
    store: ThreadStore
    line: Line
    quotas: Quotas = field(default_factory=Quotas)
    probes: tuple[Probe, ...] = ()
    """For each place where it is kept."""

    async def add(self, thread: Thread) -> bool:
        """False when there is one with this id already. Raises QuotaFull."""
        await self.quotas.require_disk(thread.user)
        await self.quotas.require_thread(thread.user, self.store.count_of)
        return await self.store.create(thread)

    async def thread(self, thread_id: str) -> Thread:
        """Raises NotFound."""
        found = await self.store.get(thread_id) if len(thread_id) <= LONGEST_ID else None
        if found is None:
            raise no_thread(thread_id)
        return found

    async def new_thread(self, user: str, dataset_id: str) -> Thread:
        at = now()
        # Other interfaces list conversations by these.
        scope = {"graph_id": dataset_id, "dataset_id": dataset_id}
        thread = Thread(str(uuid4()), user, at, at, dataset_id=dataset_id, metadata=scope)
        await self.add(thread)
        return thread


log = structlog.get_logger("sandtable.server")

Open = Callable[[Parts], AbstractAsyncContextManager[Conversation]]


def load_ahead() -> None:
    """Begins to load the conversation's libraries; whoever needs them later waits for what is left."""
    threading.Thread(target=import_module, args=(_MODULE,), name="load-conversation", daemon=True).start()


class Conversations:
    def __init__(self, parts: Parts, open_one: Open | None = None) -> None:
        self._parts = parts
        self._open = open_one
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
        self._task.add_done_callback(lambda task: _tell(task, opened))

    @staticmethod
    def _is_open(opened: asyncio.Future[Conversation]) -> bool:
        return not opened.cancelled() and opened.exception() is None

    async def get(self) -> Conversation:
        """Raises what opening raised: StoreUnavailable, InvalidInput."""
        self.begin()
        assert self._opened is not None
        return await asyncio.shield(self._opened)

    @property
    def trouble(self) -> str | None:
        """Why there is no conversation; nothing while it is being opened."""
        if self._opened is None or not self._opened.done() or self._opened.cancelled():
            return None
        error = self._opened.exception()
        if error is None:
            return None
        return error.message if isinstance(error, SandtableError) else "the log has the cause"

    async def probe(self) -> None:
        """Reads and writes where the conversation is kept, once it is open. Raises StoreUnavailable, StoreCorrupt."""
        if self._opened is not None and self._opened.done() and self._is_open(self._opened):
            for probe in self._opened.result().probes:
                await probe()

    async def aclose(self) -> None:
        self._closing.set()
        if self._task is not None:
            # What kept it from opening was told to those who asked for it.
            await asyncio.gather(self._task, return_exceptions=True)

    async def _hold(self, opened: asyncio.Future[Conversation]) -> None:
        """Opens and closes in one task, as context managers want it."""
        open_one = self._open or await asyncio.to_thread(resolve_name, _OPEN)
        async with open_one(self._parts) as conversation:
            opened.set_result(conversation)
            await self._closing.wait()


def _tell(task: asyncio.Task[None], opened: asyncio.Future[Conversation]) -> None:
    """Whoever waits hears why there is no conversation; unforeseen reasons go to the log, too."""
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
    # Who opened it in advance does not ask for the outcome.
    opened.exception()


async def _conversation(request: Request) -> Conversation:
    conversations: Conversations = request.app.state.conversations
    return await conversations.get()


Talking = Annotated[Conversation, Depends(_conversation)]
"""For a route: the conversation, opened."""


def same_dataset(thread: Thread, dataset_id: str, suggestion: str) -> None:
    """Raises InvalidInput when the thread is about something else."""
    if thread.dataset_id not in (None, dataset_id):
        raise InvalidInput(
            f"this conversation is about {quote(thread.dataset_id)}, not about {quote(dataset_id)}",
            suggestion=suggestion,
            thread_id=thread.id,
        )


def known_dataset(parts: Parts, dataset_id: str) -> str:
    """Raises NotFound with the nearest name."""
    if len(dataset_id) > LONGEST_ID:
        raise NotFound("no dataset has so long a name", suggestion="GET /datasets lists them.")
    return parts.datasets.get(dataset_id).id
