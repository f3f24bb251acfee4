"""Fair queueing between users: how many tasks of a kind run at the same time, and which is next.

Invariants: a user holds at most a share of the places and of the queue, however much they ask for. Users take turns: a
user's task waits for one task of each other user at a time, never for all that they queued before (start-time fair
queueing). A cancelled task leaves the queue at once.

Runs wait in the store, by the same rules (`store.run_store.Fairness`): they survive this process.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sandtable.errors import QueueFull
from sandtable.runs.pace import Pace
from sandtable.store.run_store import over_share


def share_of(whole: int, share: float) -> int:
    """One user's share of `whole`: at least one."""
    return max(1, int(whole * share))


def some_of(waiting: int) -> int:
    """How many of those that wait must end before another attempt makes sense: one that comes back after the first
    would meet all the others that were refused."""
    return max(1, waiting // 10)


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    order: tuple[int, int]
    """The turn of its user, and its number of arrival; the lowest goes first."""
    place: asyncio.Future[None]


class FairQueue:
    def __init__(self, what: str, places: int, waiting: int, share: float = 1.0) -> None:
        """`what` names the waiting tasks in messages, such as `verifications`. `waiting`: how many may wait."""
        self._what = what
        self._free = places
        self._waiting_most = waiting
        self._waiting_each = share_of(waiting, share)
        self._each = share_of(places, share)
        self._held: Counter[str] = Counter()
        self._queues: dict[str, deque[_Waiting]] = {}
        self._numbers = itertools.count()
        self._turns: dict[str, int] = {}
        """The last turn given to each waiting user."""
        self.pace = Pace()
        self._turn = 0
        """The turn of the task that got the last place."""

    @asynccontextmanager
    async def place(self, user: str) -> AsyncGenerator[None, None]:
        """Waits for a place, and gives it back at the end. Raises QueueFull."""
        await self.acquire(user)
        try:
            yield
        finally:
            self.release(user)

    async def acquire(self, user: str) -> None:
        """Raises QueueFull. A caller that is cancelled while waiting holds no place."""
        if self._free and self._held[user] < self._each and not self._next_user():
            self._take(user)
            return
        self._refuse_beyond_bounds(user)
        turn = max(self._turn, self._turns.get(user, 0) + 1)
        waiting = _Waiting((turn, next(self._numbers)), asyncio.get_running_loop().create_future())
        self._turns[user] = turn
        self._queues.setdefault(user, deque()).append(waiting)
        # A place may be free for this user while earlier users have reached their share.
        self._serve()
        try:
            await waiting.place
        except asyncio.CancelledError:
            if waiting.place.cancelled():
                self._leave(user, waiting)
            else:
                # The place was assigned at the same moment.
                self.release(user)
            raise

    def release(self, user: str) -> None:
        self.pace.ended()
        self._free += 1
        self._held[user] -= 1
        if not self._held[user]:
            del self._held[user]
        self._serve()

    def _refuse_beyond_bounds(self, user: str) -> None:
        waiting = sum(map(len, self._queues.values()))
        if waiting >= self._waiting_most:
            full = QueueFull(
                f"too many {self._what} wait already", suggestion="Try again when some have finished."
            )
            raise self.pace.refused(full, some_of(waiting))
        own = len(self._queues.get(user, ()))
        if own >= self._waiting_each:
            raise self.pace.refused(over_share(user, f"{own} {self._what} waiting"), some_of(own))

    def _next_user(self) -> str | None:
        able = [
            (queue[0].order, user) for user, queue in self._queues.items() if self._held[user] < self._each
        ]
        return min(able)[1] if able else None

    def _serve(self) -> None:
        while self._free and (user := self._next_user()) is not None:
            waiting = self._queues[user][0]
            self._leave(user, waiting)
            if waiting.place.cancelled():
                continue
            self._turn = max(self._turn, waiting.order[0])
            self._take(user)
            waiting.place.set_result(None)

    def _take(self, user: str) -> None:
        self._free -= 1
        self._held[user] += 1

    def _leave(self, user: str, waiting: _Waiting) -> None:
        queue = self._queues.get(user)
        if queue is not None and waiting in queue:
            queue.remove(waiting)
            if not queue:
                del self._queues[user], self._turns[user]
