"""The updates of a turn under way, until it has ended or the server stops.

Invariant: the last update, the state that the turn left its task in, comes after the turn has ended in the store: a
client that gets it may send the next message at once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager

from sandtable.conversations.conversation import Conversation
from sandtable.conversations.journal import EntryStream
from sandtable.conversations.model import JournalEntry
from sandtable.errors import QueueFull
from sandtable.runs.fair_queue import share_of
from sandtable.server.a2a.task_fold import CANCELLED_MARK, TaskFold, Update
from sandtable.server.a2a.tasks import Found, Tasks
from sandtable.server.shutdown import Shutdown
from sandtable.store.run_store import over_share

MOST = 512
"""Requests that wait for a task, or stream it, at the same time."""
ASKED_BACK_S = 600.0
"""How long a subscription waits for the answer to what a task asked back."""
LOOK_AGAIN_S = 0.5
"""Where the store does not notify, and in case a notification was lost."""


class Waiting:
    """The requests of each user that wait or stream."""

    def __init__(self, share: float) -> None:
        self._each = share_of(MOST, share)
        self._users: Counter[str] = Counter()

    @contextmanager
    def join(self, user: str) -> Generator[None, None, None]:
        """Raises QueueFull."""
        if self._users[user] >= self._each:
            raise over_share(user, f"{self._users[user]} requests wait for a task")
        if self._users.total() >= MOST:
            raise QueueFull("too many requests wait for tasks already", suggestion="Try again later.")
        self._users[user] += 1
        try:
            yield
        finally:
            self._users[user] -= 1
            if not self._users[user]:
                del self._users[user]


async def follow(talk: Conversation, fold: TaskFold, shutdown: Shutdown) -> AsyncGenerator[Update, None]:
    turn = fold.turn
    async with aclosing(talk.turns.listen(turn, fold.last)) as entries:
        while not shutdown.begun.is_set():
            came = await shutdown.or_begun(_next(entries))
            if came is None:
                return
            for entry in came:
                for update in await fold.take(entry):
                    yield update
            if not came:
                break
        else:
            return
    now = await talk.store.turn(turn.thread_id, turn.id)
    if now is not None:
        yield fold.end(now)


async def _next(entries: EntryStream) -> list[JournalEntry]:
    """The next entry; nothing at the end."""
    async for entry in entries:
        if entry is not None:
            return [entry]
    return []


async def follow_task(
    talk: Conversation, tasks: Tasks, found: Found, fold: TaskFold, shutdown: Shutdown
) -> AsyncGenerator[Update, None]:
    """Until the task has ended: also through what it asks back, if it is answered in time."""
    known, more = len(found.turns), fold.turn.under_way
    while True:
        if more:
            async with aclosing(follow(talk, fold, shutdown)) as updates:
                async for update in updates:
                    yield update
        if fold.ended or shutdown.begun.is_set():
            return
        later = await _going_on(talk, tasks, found, known, shutdown)
        if later is None:
            return
        more = len(later.turns) > known
        if more:
            # It may have ended by now, and is then read from the store.
            fold.begin(later.turns[known])
            known += 1
        else:
            yield fold.end(later.last)


async def _going_on(
    talk: Conversation, tasks: Tasks, found: Found, known: int, shutdown: Shutdown
) -> Found | None:
    """The task once it has another turn, or was cancelled while it asked back; None if neither happens in time."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + ASKED_BACK_S
    with talk.store.news.watch(found.context_id) as news:
        while loop.time() < give_up and not shutdown.begun.is_set():
            news.clear()
            later = await tasks.again(found)
            if len(later.turns) > known or CANCELLED_MARK in later.last.metadata:
                return later
            await shutdown.or_begun(_within(news, LOOK_AGAIN_S))
    return None


async def _within(news: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await news.wait()
    except TimeoutError:
        return
