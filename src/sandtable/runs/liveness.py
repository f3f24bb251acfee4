"""The interface that tells which servers are alive: a lock that a process holds and that its death releases.

A server that loses its lock while it is alive (only a lock across a network can be lost) may find its runs adopted: it
stops its runs, claims nothing until it has a lock again, and has a new `id` from then on. Results under its old id are
refused once another server has adopted the run.
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
        """This server's id as an owner of runs."""
        ...

    @property
    def alive(self) -> bool:
        """Whether the lock of `id` is held now."""
        ...

    async def acquire(self) -> None:
        """Raises InvalidInput or StoreUnavailable where no lock can be acquired."""
        ...

    async def release(self) -> None: ...

    def inherit(self, owner: str) -> AbstractAsyncContextManager[bool]:
        """Yields True when `owner` is dead, to one server at a time."""
        ...

    def others(self) -> list[str]:
        """Further owners to check, alive or dead, beside those with runs."""
        ...

    def on_loss(self, tell: Callable[[], None]) -> None:
        """`tell` is called when the lock is lost."""
        ...


class HomeLiveness:
    """Uses the lock file of a home folder."""

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
        """Never called: the kernel keeps the lock while the process is alive."""
