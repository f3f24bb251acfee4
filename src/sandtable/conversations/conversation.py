"""A conversation that is open: the analyst, the turns under way, the thread store and the order of turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from sandtable.conversations.line import Line
from sandtable.conversations.model import Thread, now
from sandtable.conversations.store import ThreadStore, no_thread
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.runs.quotas import Quotas

if TYPE_CHECKING:
    from sandtable.agent.analyst import Analyst
    from sandtable.agent.thread_graph import ThreadGraph
    from sandtable.conversations.engine import TurnEngine

LONGEST_ID = 128
RunsNamedBy = Callable[[Sequence[str]], Awaitable[list[tuple[str, str]]]]
"""The runs that these threads name, each with its thread."""


async def _no_runs(thread_ids: Sequence[str]) -> list[tuple[str, str]]:
    return []


Probe = Callable[[], Awaitable[None]]
"""Reads and writes a store, and changes nothing. Raises StoreUnavailable, StoreCorrupt."""


@dataclass(frozen=True, slots=True)
class Conversation:
    analyst: Analyst
    turns: TurnEngine
    store: ThreadStore
    line: Line
    quotas: Quotas = field(default_factory=Quotas)
    probes: tuple[Probe, ...] = ()
    """One for each database that holds a part of it."""
    runs_named_by: RunsNamedBy = _no_runs

    @property
    def threads(self) -> ThreadGraph:
        """The states of its threads."""
        return self.analyst.threads

    async def add(self, thread: Thread) -> bool:
        """False when a thread with this id exists. Raises QuotaFull."""
        await self.quotas.require_disk(thread.user)
        await self.quotas.require_thread(thread.user, self.store.count_of)
        return await self.store.create(thread)

    async def thread(self, thread_id: str) -> Thread:
        """Raises NotFound."""
        found = await self.store.get(thread_id) if len(thread_id) <= LONGEST_ID else None
        if found is None:
            raise no_thread(thread_id)
        return found

    async def new_thread(self, user: str, dataset_id: str, thread_id: str | None = None) -> Thread:
        """With `thread_id`, the thread that has this id in the end: another request may have begun it just now."""
        at = now()
        # LangGraph clients list threads by these entries.
        scope = {"graph_id": dataset_id, "dataset_id": dataset_id}
        thread = Thread(thread_id or str(uuid4()), user, at, at, dataset_id=dataset_id, metadata=scope)
        return thread if await self.add(thread) else await self.thread(thread.id)


def same_dataset(thread: Thread, dataset_id: str, suggestion: str) -> None:
    """Raises InvalidInput when the thread is about another dataset."""
    if thread.dataset_id not in (None, dataset_id):
        raise InvalidInput(
            f"this conversation is about {quote(thread.dataset_id)}, not about {quote(dataset_id)}",
            suggestion=suggestion,
            thread_id=thread.id,
        )
