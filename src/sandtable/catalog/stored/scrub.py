"""Reads all converted data at intervals, to find by digest what changed on disk with unchanged time stamps.

Invariant: one scrub at a time reads a data folder, also where servers share it; it reads slowly and at low priority.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import random
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import structlog

from sandtable.catalog.stored.integrity import Damage, Whole
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import NotFound

LOCK = ".scrub.lock"
BYTES_PER_S = 32 << 20
_LOOK_S = 60.0
_NICENESS = 15
_LOG_S = 60.0

T = TypeVar("T")

log = structlog.get_logger(__name__)


class Stopped(Exception):
    """The server stops before the scrub has finished."""


class Scrub:
    def __init__(
        self,
        store: DataStore,
        on_damage: Callable[[str], object],
        *,
        every_s: float,
        bytes_per_s: int = BYTES_PER_S,
        look_s: float = _LOOK_S,
    ) -> None:
        """A version is read again `every_s` after the last time; `on_damage` is called with each damaged one. `look_s`:
        the interval between checks for versions that are due."""
        self._store = store
        self._on_damage = on_damage
        self._every_s = every_s
        self._bytes_per_s = bytes_per_s
        self._look_s = look_s
        self._closing = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "scrub", initializer=_lower_priority)

    def begin(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._keep(), name="scrub")

    async def aclose(self) -> None:
        self._closing.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await asyncio.to_thread(self._thread.shutdown)

    async def _keep(self) -> None:
        while True:
            # Jitter: servers that were started together do not check at the same moment.
            await asyncio.sleep(self._look_s * random.uniform(1.0, 2.0))  # noqa: S311 - nothing secret hangs on it
            try:
                await self.scrub()
            except Stopped:
                return
            except Exception:
                log.exception("scrub_broke")

    async def scrub(self) -> dict[str, Whole | Damage]:
        """Reads the versions that are due, the longest unread first. Does nothing while another server reads."""
        found: dict[str, Whole | Damage] = {}
        if not await self._apart(self._due):
            return found
        with _alone(self._store.root / LOCK) as alone:
            # Another server of this home may have read them just before.
            due = await self._apart(self._due) if alone else []
            if not due:
                return found
            log.info("scrub_begun", versions=len(due))
            for number, version in enumerate(due, 1):
                with contextlib.suppress(NotFound):
                    found[version] = await self._apart(lambda version=version: self._read(version))
                    if isinstance(found[version], Damage):
                        self._on_damage(version)
                log.info("scrub_progress", done=number, versions=len(due))
            removed = await self._apart(self._store.clean)
        wrong = sum(isinstance(each, Damage) for each in found.values())
        log.info("scrub_ended", versions=len(found), damaged=wrong, leftovers_removed=removed)
        return found

    def _due(self) -> list[str]:
        before = time.time() - self._every_s
        read_at = {version: self._store.integrity.checked_at(version) for version in self._store.versions()}
        return sorted((version for version, at in read_at.items() if at < before), key=read_at.__getitem__)

    def _read(self, version: str) -> Whole | Damage:
        return self._store.check(version, self._slowly(version), thorough=True)

    def _slowly(self, version: str) -> Callable[[int, int], None]:
        began = logged_at = time.monotonic()

        def wait(done: int, total: int) -> None:
            nonlocal logged_at
            ahead = done / self._bytes_per_s - (time.monotonic() - began)
            if self._closing.wait(max(0.0, ahead)):
                raise Stopped
            if time.monotonic() - logged_at > _LOG_S:
                logged_at = time.monotonic()
                log.info("scrub_reading", version=version, bytes_done=done, bytes_in_all=total)

        return wait

    async def _apart(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _lower_priority() -> None:
    """For this thread only; the kernel gives its reads the same priority."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


@contextlib.contextmanager
def _alone(path: Path) -> Generator[bool, None, None]:
    """Yields True to one server at a time that uses this folder."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        log.warning("scrub_not_locked", reason=error.strerror or str(error))
        yield False
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
        return
    else:
        yield True
    finally:
        os.close(fd)
