"""The events of one turn: in memory for those who listen, in the store for those who come back.

Invariant: adding never waits for a reader or for the disk. A reader who is too slow skips what is no longer
kept; the last whole state always comes after it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncGenerator

import structlog

from sandtable.errors import SandtableError
from sandtable.server.threads.model import Happening
from sandtable.server.threads.store import ThreadStore

HEARTBEAT_S = 5.0
KEPT_BYTES = 8 << 20
WRITE_EVERY_S = 0.05
MOST_BEFORE = 10_000
LOOK_AGAIN_S = 0.3
LOOK_RARELY_S = 1.5
"""Where the store tells of news: in case one was lost, or the server that works on the turn is dead."""
WHOLE = "values"
"""The event that holds the whole state: a later one makes the earlier ones unnecessary."""

log = structlog.get_logger("sandtable.server")

Heard = AsyncGenerator[Happening | None, None]
"""Events, and nothing at all where a sign of life is due."""


class Journal:
    def __init__(
        self, store: ThreadStore, turn_id: str, kept_bytes: int = KEPT_BYTES, *, last: int = 0
    ) -> None:
        """`last` is the number of the last event that another server told of the turn."""
        self._store = store
        self._turn_id = turn_id
        self._most = kept_bytes
        self._kept: deque[Happening] = deque()
        self._bytes = 0
        self._before = self._last = last
        self._unwritten: list[Happening] = []
        self._news = asyncio.Event()
        self._full = asyncio.Event()
        self._closed = False
        self._writing = asyncio.create_task(self._write())

    def add(self, name: str, data: str) -> None:
        self._last += 1
        happening = Happening(self._last, name, data)
        self._kept.append(happening)
        self._bytes += len(data)
        while self._bytes > self._most and len(self._kept) > 1:
            self._bytes -= len(self._kept.popleft().data)
        self._unwritten.append(happening)
        self._tell()

    async def flush(self) -> None:
        """What was added is in the store afterwards; nothing can be added any more."""
        self._full.set()
        self._tell()
        await self._writing

    def close(self) -> None:
        """Listeners have heard everything."""
        self._closed = True
        self._tell()

    async def read(self, after: int = 0) -> Heard:
        if after < self._before:
            for happening in await self._store.logged(self._turn_id, after, limit=MOST_BEFORE):
                if happening.number <= self._before:
                    yield happening
            after = self._before
        while True:
            news = self._news
            for happening in [one for one in self._kept if one.number > after]:
                yield happening
                after = happening.number
            if self._last > after:
                continue
            if self._closed:
                return
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await news.wait()
            except TimeoutError:
                yield None

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _write(self) -> None:
        while not self._full.is_set() or self._unwritten:
            if not self._unwritten:
                await self._news.wait()
            # Many come at once; and of several whole states only the last is worth keeping.
            await self._pause()
            waiting, self._unwritten = self._unwritten, []
            await self._keep(_newest_states(waiting))

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(WRITE_EVERY_S):
                await self._full.wait()
        except TimeoutError:
            return

    async def _keep(self, happenings: list[Happening]) -> None:
        if not happenings:
            return
        try:
            await self._store.log(self._turn_id, happenings)
        except SandtableError as error:
            log.error("turn_log_not_written", turn_id=self._turn_id, reason=error.message)


def _newest_states(happenings: list[Happening]) -> list[Happening]:
    whole = [one.number for one in happenings if one.name == WHOLE]
    return [one for one in happenings if one.name != WHOLE or one.number == whole[-1]]


async def read_stored(store: ThreadStore, thread_id: str, turn_id: str, after: int = 0) -> Heard:
    """What is in the store: of a turn that has ended, or that another server works on."""
    name, quiet_since = "", time.monotonic()
    with store.news.watch(turn_id) as news:
        while True:
            news.clear()
            turn = await store.turn(thread_id, turn_id)
            for happening in await store.logged(turn_id, after):
                yield happening
                after, name, quiet_since = happening.number, happening.name, time.monotonic()
            if await store.logged(turn_id, after, limit=1):
                continue
            if turn is None or not turn.under_way:
                if turn and turn.error and name != "error":
                    yield Happening(after + 1, "error", json.dumps(turn.error))
                return
            if not await _told(news, LOOK_RARELY_S if store.tells else LOOK_AGAIN_S):
                await store.recover()
            if time.monotonic() - quiet_since > HEARTBEAT_S:
                yield None
                quiet_since = time.monotonic()


async def _told(news: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await news.wait()
    except TimeoutError:
        return False
    return True
