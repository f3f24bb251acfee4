"""The order of turns: one at a time per thread, first in, first out; bounded in total and per user.

Invariant: a place is left exactly once, and the next turn of its thread begins only after that. Free slots are shared
fairly between users.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Literal

from sandtable.conversations.model import ThreadBusy
from sandtable.errors import QueueFull
from sandtable.runs.fair_queue import FairQueue, share_of, some_of
from sandtable.store.run_store import over_share

Strategy = Literal["enqueue", "reject", "interrupt", "rollback"]
"""What a new turn does about the turn under way: waits, is refused, or cancels it. `rollback` also undoes it."""


class Place:
    """One turn's place in its thread's line."""

    def __init__(
        self,
        line: Line,
        thread_id: str,
        user: str,
        ahead: list[Place],
        cancel: Callable[[], None],
        abandoned: Callable[[], bool],
    ) -> None:
        self._line = line
        self._thread_id = thread_id
        self.user = user
        self.ahead = ahead
        self.cancel = cancel
        self.abandoned = abandoned
        """Whether all its listeners have left."""
        self._left = asyncio.Event()
        self.working = False

    async def reach(self) -> None:
        """Returns when the turn may begin."""
        for other in self.ahead:
            await other._left.wait()
        await self._line.slots.acquire(self.user)
        self.working = True

    def leave(self) -> None:
        if self._left.is_set():
            return
        if self.working:
            self._line.slots.release(self.user)
        self._line.forget(self._thread_id, self)
        self._left.set()

    async def gone(self) -> None:
        await self._left.wait()


class Line:
    def __init__(self, at_once: int, waiting: int, share: float = 1.0) -> None:
        """`share`: the fraction of both limits that one user may take."""
        self._most = at_once + waiting
        self._each = share_of(self._most, share)
        self.slots = FairQueue("answers", at_once, self._most, share)
        self._threads: dict[str, list[Place]] = {}
        self._users: Counter[str] = Counter()

    def enter(
        self,
        thread_id: str,
        user: str,
        strategy: Strategy,
        cancel: Callable[[], None],
        abandoned: Callable[[], bool] = lambda: False,
    ) -> Place:
        """Raises ThreadBusy for `reject`, and QueueFull. `cancel` ends the turn early."""
        ahead = self.under_way(thread_id)
        if ahead and strategy == "reject":
            raise ThreadBusy(
                "an answer in this conversation is still under way",
                suggestion="Wait for it, cancel it, or send the message with another multitask_strategy.",
                thread_id=thread_id,
            )
        if self._users.total() >= self._most:
            full = QueueFull(
                "too many conversations wait for an answer already",
                suggestion="Try again in a moment, or raise SANDTABLE_QUEUE_LIMIT.",
            )
            raise self.slots.pace.refused(full, some_of(self._users.total()))
        if (own := self._users[user]) >= self._each:
            raise self.slots.pace.refused(over_share(user, f"{own} answers under way"), some_of(own))
        for other in ahead:
            if strategy in ("interrupt", "rollback") or other.abandoned():
                other.cancel()
        place = Place(self, thread_id, user, ahead, cancel, abandoned)
        self._threads.setdefault(thread_id, []).append(place)
        self._users[user] += 1
        return place

    @property
    def counts(self) -> tuple[int, int]:
        """How many turns are worked on, and how many wait."""
        places = [place for places in self._threads.values() for place in places]
        working = sum(place.working for place in places)
        return working, len(places) - working

    def under_way(self, thread_id: str) -> list[Place]:
        return list(self._threads.get(thread_id, ()))

    def forget(self, thread_id: str, place: Place) -> None:
        places = self._threads[thread_id]
        places.remove(place)
        if not places:
            del self._threads[thread_id]
        self._users[place.user] -= 1
        if not self._users[place.user]:
            del self._users[place.user]

    async def aclose(self) -> None:
        """Cancels what is under way, and waits until it has ended."""
        for place in [place for places in self._threads.values() for place in places]:
            place.cancel()
            await place.gone()
