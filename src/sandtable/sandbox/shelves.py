"""Sandboxes that wait for a job, by kind of job, and the tasks that refill them. Only recent kinds have any.

Invariant: a sandbox on a shelf is handed out once or disposed of; an evicted kind gets no more sandboxes.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any, Generic, Protocol, TypeVar

KEYS_KEPT = 8


class Disposable(Protocol):
    @property
    def alive(self) -> bool: ...

    def dispose(self) -> None: ...


K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=Disposable)


class Shelves(Generic[K, S]):
    def __init__(self, most: int = KEYS_KEPT, outdates: Callable[[K, K], bool] | None = None) -> None:
        """`outdates`: whether the first key, now requested, makes the second one stale."""
        self._most = most
        self._outdates = outdates
        self._shelves: OrderedDict[K, deque[S]] = OrderedDict()

    def __len__(self) -> int:
        """How many sandboxes wait, those that have died unnoticed included."""
        return sum(map(len, self._shelves.values()))

    def expect(self, key: K) -> None:
        """Marks the key as recently used; the least recently used one is evicted and its sandboxes disposed of."""
        if key not in self._shelves and self._outdates is not None:
            for other in [other for other in self._shelves if self._outdates(key, other)]:
                clear(self._shelves.pop(other))
        self._shelves.setdefault(key, deque())
        self._shelves.move_to_end(key)
        while len(self._shelves) > self._most:
            _, dropped = self._shelves.popitem(last=False)
            clear(dropped)

    def take(self, key: K) -> S | None:
        """The newest one that is alive."""
        self.expect(key)
        return living(self._shelves[key])

    def lacking(self, key: K, target: int) -> int:
        """How many to make; 0 for an evicted key. Dead sandboxes are removed from the shelf."""
        shelf = self._shelves.get(key)
        if shelf is None:
            return 0
        for sandbox in [one for one in shelf if not one.alive]:
            shelf.remove(sandbox)
            sandbox.dispose()
        return max(0, target - len(shelf))

    async def fill(self, key: K, target: int, make: Callable[[], Awaitable[S | None]]) -> None:
        """Make sandboxes for the key, one at a time, until `target` are ready; stop when `make` returns None."""
        while self.lacking(key, target):
            sandbox = await make()
            if sandbox is None:
                return
            self.put(key, sandbox)

    def put(self, key: K, sandbox: S) -> None:
        """A sandbox for a key that was evicted meanwhile is disposed of."""
        if key in self._shelves:
            self._shelves[key].append(sandbox)
        else:
            sandbox.dispose()

    def close(self) -> None:
        for shelf in self._shelves.values():
            clear(shelf)
        self._shelves.clear()


class Refills(Generic[K]):
    """At most one task for each key that refills its shelf."""

    def __init__(self) -> None:
        self._tasks: dict[K, asyncio.Task[None]] = {}

    def start(self, key: K, refill: Callable[[], Coroutine[Any, Any, None]]) -> asyncio.Task[None]:
        """The task of the key: the one that runs, or a new one."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.create_task(refill(), name="refill")
            task.add_done_callback(lambda _: self._tasks.pop(key))
        return task

    async def settle(self) -> None:
        """Wait until no task runs."""
        while self._tasks:
            await asyncio.gather(*self._tasks.values())

    async def aclose(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def clear(shelf: deque[S]) -> None:
    while shelf:
        shelf.pop().dispose()


def living(shelf: deque[S]) -> S | None:
    while shelf:
        sandbox = shelf.pop()
        if sandbox.alive:
            return sandbox
        sandbox.dispose()
    return None
