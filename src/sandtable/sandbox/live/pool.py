"""The workers of one database, kept with their connections from job to job.

Invariant: a worker serves one job at a time and is used only for the login that it was opened for. It is ended when it
is idle for a while, is old, or has not answered as agreed.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandtable.errors import SandtableError
from sandtable.sandbox.job import JobError
from sandtable.sandbox.live.worker import LiveWorker, WorkerFailed

IDLE_S = 300.0
_OLDEST_S = 3600.0
"""A worker may use its driver's processor time, and a database its memory for a connection, no longer than that."""


class Database(Protocol):
    """What its workers are opened for: see `sandtable.sources.executing`."""

    async def login(self) -> Any:
        """Where the database is and who asks there, as it is known now: any value that can be compared. Raises
        SandtableError."""
        ...

    async def open(self, login: Any) -> LiveWorker:
        """A worker that is ready to execute. Raises SandtableError."""
        ...

    async def reconnect(self, login: Any, worker: LiveWorker) -> None:
        """Another connection for a worker that has lost its own. Raises SandtableError."""
        ...

    def explain(self, login: Any, failed: WorkerFailed) -> JobError:
        """What the database reported, for people."""
        ...


@dataclass(eq=False, slots=True)
class Held:
    """A worker that somebody uses."""

    worker: LiveWorker
    login: Any
    since: float = field(default_factory=time.monotonic)
    idle: asyncio.TimerHandle | None = None


class Workers:
    def __init__(self, database: Database, idle_s: float = IDLE_S) -> None:
        self._database = database
        self._idle_s = idle_s
        self._waiting: list[Held] = []
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    async def take(self) -> Held:
        """The one that was used last, else a new one. Raises SandtableError."""
        try:
            login = await self._database.login()
        except SandtableError:
            # It was disconnected, or its password is gone.
            self._end_waiting()
            raise
        while (held := self._next_waiting()) is not None:
            if held.worker.alive and held.login == login and time.monotonic() - held.since < _OLDEST_S:
                return held
            self.end(held)
        return Held(await self._database.open(login), login)

    async def reconnect(self, held: Held) -> None:
        """With what is known now: the password may be another. Raises SandtableError."""
        held.login = await self._database.login()
        await self._database.reconnect(held.login, held.worker)

    def give_back(self, held: Held) -> None:
        if self._closed or not held.worker.alive:
            self.end(held)
            return
        held.idle = asyncio.get_running_loop().call_later(self._idle_s, self._expire, held)
        self._waiting.append(held)

    def end(self, held: Held) -> None:
        held.worker.kill()
        task = asyncio.create_task(held.worker.aclose())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _expire(self, held: Held) -> None:
        self._waiting.remove(held)
        self.end(held)

    def _next_waiting(self) -> Held | None:
        held = self._waiting.pop() if self._waiting else None
        if held is not None and held.idle is not None:
            held.idle.cancel()
        return held

    def _end_waiting(self) -> None:
        while (held := self._next_waiting()) is not None:
            self.end(held)

    async def aclose(self) -> None:
        """Call when no job runs any more."""
        self._closed = True
        self._end_waiting()
        await asyncio.gather(*self._ending)
