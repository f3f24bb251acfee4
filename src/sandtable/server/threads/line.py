"""The order of turns: one at a time in a thread, in the order they came; and not too many in all.

Invariant: a place is left exactly once, and nobody behind it in its thread begins before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from sandtable.capsule.store import QueueFull
from sandtable.server.threads.model import ThreadBusy

Strategy = Literal["enqueue", "reject", "interrupt", "rollback"]
"""What a newcomer does about the turn under way: waits, gives up, or ends it. `rollback` also forgets it."""


class Place:
    """One turn's place in its thread's line."""

    def __init__(
        self,
        line: Line,
        thread_id: str,
        ahead: list[Place],
        cancel: Callable[[], None],
        abandoned: Callable[[], bool],
    ) -> None:
        self._line = line
        self._thread_id = thread_id
        self.ahead = ahead
        self.cancel = cancel
        self.abandoned = abandoned
        """Whether nobody listens to it any more."""
        self._left = asyncio.Event()
        self._working = False

    async def reach(self) -> None:
        """Returns when it is this turn's turn."""
        for other in self.ahead:
            await other._left.wait()
        await self._line.slots.acquire()
        self._working = True

    def leave(self) -> None:
        if self._left.is_set():
            return
        if self._working:
            self._line.slots.release()
        self._line.forget(self._thread_id, self)
        self._left.set()

    async def gone(self) -> None:
        await self._left.wait()


class Line:
    def __init__(self, at_once: int, waiting: int) -> None:
        self.slots = asyncio.Semaphore(at_once)
        self._most = at_once + waiting
        self._threads: dict[str, list[Place]] = {}

    def enter(
        self,
        thread_id: str,
        strategy: Strategy,
        cancel: Callable[[], None],
        abandoned: Callable[[], bool] = lambda: False,
    ) -> Place:
        """Raises ThreadBusy for `reject`, and QueueFull. `cancel` ends the turn early."""
        ahead = self.under_way(thread_id)
        if ahead and strategy == "reject":
            raise ThreadBusy(
                "an answer is still being worked on in this conversation",
                suggestion="Wait for it, cancel it, or send the message with another multitask_strategy.",
                thread_id=thread_id,
            )
        if sum(map(len, self._threads.values())) >= self._most:
            raise QueueFull(
                "as many conversations wait for an answer as may wait",
                suggestion="Try again in a moment, or raise SANDTABLE_QUEUE_LIMIT.",
            )
        for other in ahead:
            if strategy in ("interrupt", "rollback") or other.abandoned():
                other.cancel()
        place = Place(self, thread_id, ahead, cancel, abandoned)
        self._threads.setdefault(thread_id, []).append(place)
        return place

    def under_way(self, thread_id: str) -> list[Place]:
        return list(self._threads.get(thread_id, ()))

    def forget(self, thread_id: str, place: Place) -> None:
        places = self._threads[thread_id]
        places.remove(place)
        if not places:
            del self._threads[thread_id]

    async def aclose(self) -> None:
        """Ends whatever is under way, and waits for it."""
        for place in [place for places in self._threads.values() for place in places]:
            place.cancel()
            await place.gone()
