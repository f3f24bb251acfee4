"""The seam that tells which servers still live: a lock that a process holds and that its death frees.

A server that loses its lock while it lives (only a lock across a network can be lost) may find its runs adopted: it
stops what it runs, claims nothing until it has a lock again, and is somebody else (`id`) from then on. What it ends
under its old name is refused once another has adopted it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from sandtable.runs.instance import Instance


class Liveness(Protocol):
    @property
    def id(self) -> str:
        """This server's name as an owner of runs."""
        ...

    @property
    def alive(self) -> bool:
        """Whether the lock of `id` is held now."""
        ...

    async def acquire(self) -> None:
        """Raises InvalidInput or StoreUnavailable where no lock can be had."""
        ...

    async def release(self) -> None: ...

    def inherit(self, owner: str) -> AbstractAsyncContextManager[bool]:
        """True inside when `owner` is dead; no other heir is inside at the same time."""
        ...

    def others(self) -> list[str]:
        """Further owners to look at, living or dead, beside those who have runs."""
        ...

    def on_loss(self, tell: Callable[[], None]) -> None:
        """`tell` is called when the lock is lost."""
        ...


class HomeLiveness:
    """Over the lock file of a home folder."""

    def __init__(self, home: Path) -> None:
        self.lock = Instance(home)
        self.alive = False

    @property
    def id(self) -> str:
        return self.lock.id

    async def acquire(self) -> None:
        self.lock.acquire()
        self.alive = True

    async def release(self) -> None:
        self.alive = False
        self.lock.release()

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        with self.lock.inherit(owner) as dead:
            yield dead

    def others(self) -> list[str]:
        return self.lock.others()

    def on_loss(self, tell: Callable[[], None]) -> None:
        """The kernel keeps the lock as long as the process lives."""
