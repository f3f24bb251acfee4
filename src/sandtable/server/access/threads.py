"""Threads, their turns and their states as the principal may see them. One that is shared is read-only for others."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from sandtable.accounts.asking import asking
from sandtable.accounts.refusals import NotAllowed
from sandtable.accounts.shares import Thing
from sandtable.agent.turn_events import ThreadState
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.engine import TurnEngine
from sandtable.conversations.feed import Feed
from sandtable.conversations.journal import EntryStream
from sandtable.conversations.model import JournalEntry, OwnThreads, Thread, ThreadFilter, TurnRecord
from sandtable.conversations.news import News
from sandtable.conversations.running import RunningTurn, TurnOrder
from sandtable.conversations.store import ThreadStore, no_thread
from sandtable.conversations.turn_start import TurnStart
from sandtable.server.access.datasets import SeenDatasets


def seen_conversation(talk: Conversation, datasets: SeenDatasets) -> Conversation:
    store = SeenThreads(talk.store)
    view = replace(
        talk,
        analyst=cast(Any, _Analyst(SeenStates(talk, store))),
        turns=cast(TurnEngine, SeenTurns(talk.turns, store, datasets)),
        store=cast(ThreadStore, store),
    )
    return view


class _Analyst:
    """Has only what `Conversation.threads` needs: turns begin in the engine."""

    def __init__(self, states: SeenStates) -> None:
        self.threads = states


class SeenThreads:
    """Has what routes use of `ThreadStore`."""

    def __init__(self, every: ThreadStore) -> None:
        self._every = every

    @property
    def news(self) -> News:
        return self._every.news

    @property
    def notifies(self) -> bool:
        return self._every.notifies

    async def count_of(self, user: str) -> int:
        """For quotas: of the principal alone."""
        return await self._every.count_of(asking().principal.user)

    async def create(self, thread: Thread) -> bool:
        return await self._every.create(replace(thread, user=asking().principal.user))

    async def get(self, thread_id: str) -> Thread | None:
        thread, found = await self._every.get(thread_id), asking()
        if thread is None:
            return None
        if found.owns(thread.user):
            found.note_look("thread", thread.id, thread.user)
            return thread
        right = await found.shares.right(Thing("thread", thread.id, thread.user), found.principal)
        return None if right is None else thread

    async def search(self, wanted: ThreadFilter) -> list[Thread]:
        return await self._every.search(await self._seen(wanted))

    async def count(self, wanted: ThreadFilter) -> int:
        return await self._every.count(await self._seen(wanted))

    async def update(self, thread_id: str, metadata: dict[str, Any]) -> Thread | None:
        await self.require_own(thread_id)
        return await self._every.update(thread_id, metadata)

    async def delete(self, thread_id: str) -> bool:
        await self.require_own(thread_id)
        await asking().shares.forget("thread", [thread_id])
        return await self._every.delete(thread_id)

    async def turn(self, thread_id: str, turn_id: str) -> TurnRecord | None:
        return await self._every.turn(thread_id, turn_id) if await self._sees(thread_id) else None

    async def turns(self, thread_id: str, **wanted: Any) -> list[TurnRecord]:
        return await self._every.turns(thread_id, **wanted) if await self._sees(thread_id) else []

    async def turn_count(self, thread_id: str) -> int:
        return await self._every.turn_count(thread_id) if await self._sees(thread_id) else 0

    async def turn_named(self, turn_id: str) -> TurnRecord | None:
        turn = await self._every.turn_named(turn_id)
        return turn if turn is not None and await self._sees(turn.thread_id) else None

    async def marked(self, mark: dict[str, str], seen: OwnThreads | None, limit: int) -> list[TurnRecord]:
        """`seen` is the principal's, whatever is given."""
        return await self._every.marked(mark, await self._threads(), limit)

    async def marked_in(self, mark: dict[str, str], thread_id: str, limit: int) -> list[TurnRecord]:
        return await self._every.marked_in(mark, thread_id, limit) if await self._sees(thread_id) else []

    async def logged(self, turn_id: str, after: int, limit: int) -> list[JournalEntry]:
        return (
            [] if await self.turn_named(turn_id) is None else await self._every.logged(turn_id, after, limit)
        )

    async def mark_ended(self, turn: TurnRecord, metadata: dict[str, Any]) -> bool:
        await self.require_own(turn.thread_id)
        return await self._every.mark_ended(turn, metadata)

    # What may be done

    async def require(self, thread_id: str) -> None:
        """Raises NotFound."""
        if not await self._sees(thread_id):
            raise no_thread(thread_id)

    async def require_own(self, thread_id: str) -> None:
        """Raises NotFound, and NotAllowed for a thread that is shared to be read."""
        found = asking()
        if found.principal.sees_all and not found.principal.is_admin:
            return
        thread = await self.get(thread_id)
        if thread is None:
            raise no_thread(thread_id)
        if not found.owns(thread.user):
            raise NotAllowed(
                f"this conversation belongs to {thread.user}, and is shared with you to read",
                suggestion="Ask in a conversation of your own.",
                thread_id=thread_id,
            )

    async def _sees(self, thread_id: str) -> bool:
        found = asking()
        if found.principal.sees_all and not found.principal.is_admin:
            return True
        return await self.get(thread_id) is not None

    async def _seen(self, wanted: ThreadFilter) -> ThreadFilter:
        return replace(wanted, seen=await self._threads())

    async def _threads(self) -> OwnThreads | None:
        """Those that the principal may see; None for all."""
        found = asking()
        if found.principal.sees_all:
            found.note_list("thread")
            return None
        granted = await found.shares.granted("thread", found.principal)
        return OwnThreads(found.principal.user, tuple((thing.id, thing.owner) for thing in granted))


class SeenStates:
    """Has what routes use of `ThreadGraph`."""

    def __init__(self, talk: Conversation, store: SeenThreads) -> None:
        self._every = talk.threads
        self._store = store

    async def state(self, thread_id: str, checkpoint_id: str | None = None) -> ThreadState:
        await self._store.require(thread_id)
        return await self._every.state(thread_id, checkpoint_id)

    async def history(
        self, thread_id: str, *, at: str | None = None, before: str | None = None, limit: int | None = None
    ) -> AsyncGenerator[ThreadState, None]:
        await self._store.require(thread_id)
        async with aclosing(self._every.history(thread_id, at=at, before=before, limit=limit)) as states:
            async for state in states:
                yield state

    async def add_messages(
        self, thread_id: str, checkpoint_id: str | None, messages: list[dict[str, Any]]
    ) -> ThreadState:
        await self._store.require_own(thread_id)
        return await self._every.add_messages(thread_id, checkpoint_id, messages)

    async def add_answer(self, thread_id: str, values: dict[str, Any]) -> None:
        await self._store.require_own(thread_id)
        await self._every.add_answer(thread_id, values)

    async def forget(self, thread_id: str) -> None:
        """After `SeenThreads.delete`: the thread itself is gone, which that allowed."""
        if await self._store.get(thread_id) is not None:
            await self._store.require_own(thread_id)
        await self._every.forget(thread_id)


class SeenTurns:
    """Has what routes use of `TurnEngine`. A `TurnRecord` comes from `SeenThreads`, which showed it."""

    def __init__(self, every: TurnEngine, store: SeenThreads, datasets: SeenDatasets) -> None:
        self._every = every
        self._store = store
        self._datasets = datasets

    async def begin(self, order: TurnOrder, feed: Feed | None = None) -> RunningTurn:
        found = asking()
        await self._store.require_own(order.thread.id)
        self._datasets.require(order.dataset_id)
        seen = None if found.principal.sees_all else frozenset(d.id for d in self._datasets.datasets())
        order = replace(order, user=found.principal.user, datasets=seen)
        return await self._every.begin(order, feed)

    def listen(self, turn: TurnRecord, after: int = 0) -> EntryStream:
        return self._every.listen(turn, after)

    def running(self, turn_id: str) -> RunningTurn | None:
        """None for a turn of somebody else: those who only read do not count among its listeners, whose leaving can
        cancel it."""
        found = self._every.running(turn_id)
        return found if found is not None and asking().owns(found.order.user) else None

    async def start_of(self, thread_id: str, checkpoint_id: str) -> TurnStart:
        await self._store.require(thread_id)
        return await self._every.start_of(thread_id, checkpoint_id)

    async def cancel(self, turn: TurnRecord, *, wait: bool = False) -> bool:
        await self._store.require_own(turn.thread_id)
        return await self._every.cancel(turn, wait=wait)

    async def clear(self, thread_id: str) -> None:
        await self._store.require_own(thread_id)
        await self._every.clear(thread_id)
