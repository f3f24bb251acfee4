"""The journal of a turn: its events in memory for listeners, in the store for clients that come back.

Invariant: adding never waits for a reader or for the disk. A reader gets every entry in order, the newest from memory
and older ones from the store; of several states written together, the store keeps the last.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator

import structlog

from sandtable.conversations.json_text import encode
from sandtable.conversations.model import JournalEntry
from sandtable.conversations.store import ThreadStore
from sandtable.conversations.turn_events import TurnEvent, TurnFailed, written
from sandtable.conversations.turn_start import TurnStart
from sandtable.errors import SandtableError

HEARTBEAT_S = 5.0
KEPT_BYTES = 8 << 20
WRITE_EVERY_S = 0.05
LOOK_AGAIN_S = 0.3
LOOK_RARELY_S = 1.5
"""Where the store notifies: in case a notification was lost, or the server that works on the turn is dead."""

log = structlog.get_logger("sandtable.conversations")

EntryStream = AsyncGenerator[JournalEntry | None, None]
"""Entries, and None where a heartbeat is due."""


class Journal:
    def __init__(
        self, store: ThreadStore, turn_id: str, kept_bytes: int = KEPT_BYTES, *, last: int = 0
    ) -> None:
        """`last` is the number of the last entry that another server may have sent of the turn."""
        self.start = TurnStart()
        """What the turn's states are compared with."""
        self._store = store
        self._turn_id = turn_id
        self._most = kept_bytes
        self._kept: deque[JournalEntry] = deque()
        self._bytes = 0
        self._last = self._stored = last
        self._unwritten: list[JournalEntry] = []
        self._news = asyncio.Event()
        self._full = asyncio.Event()
        self._closed = False
        self._writing = asyncio.create_task(self._write())

    def add(self, event: TurnEvent) -> None:
        kind, data = written(event, self.start)
        self._last += 1
        entry = JournalEntry(self._last, kind, data)
        self._kept.append(entry)
        self._bytes += len(data)
        while self._bytes > self._most and len(self._kept) > 1:
            self._bytes -= len(self._kept.popleft().data)
        self._unwritten.append(entry)
        self._notify()

    async def flush(self) -> None:
        """Writes what was added to the store. Nothing can be added afterwards."""
        self._full.set()
        self._notify()
        await self._writing

    def close(self) -> None:
        """Ends the readers' streams."""
        self._closed = True
        self._notify()

    async def read(self, after: int = 0) -> EntryStream:
        while True:
            news, evicted = self._news, self._evicted
            if after < evicted:
                await self._written_to(evicted)
                async for entry in self._from_store(after, evicted):
                    yield entry
                after = evicted
                continue
            for entry in [one for one in self._kept if one.number > after]:
                yield entry
                after = entry.number
            if self._last > after:
                continue
            if self._closed:
                return
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    await news.wait()
            except TimeoutError:
                yield None

    @property
    def _evicted(self) -> int:
        """The number of the last entry that is not in memory."""
        return self._kept[0].number - 1 if self._kept else self._last

    async def _written_to(self, number: int) -> None:
        while self._stored < number:
            await self._news.wait()

    async def _from_store(self, after: int, last: int) -> AsyncGenerator[JournalEntry, None]:
        while entries := await self._store.logged(self._turn_id, after):
            for entry in entries:
                if entry.number > last:
                    return
                yield entry
                after = entry.number

    def _notify(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _write(self) -> None:
        while not self._full.is_set() or self._unwritten:
            if not self._unwritten:
                await self._news.wait()
            # Entries come in bursts; one transaction writes what comes in this time.
            await self._pause()
            waiting, self._unwritten = self._unwritten, []
            await self._keep(_without_older_states(waiting))
            if waiting:
                self._stored = waiting[-1].number
                self._notify()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(WRITE_EVERY_S):
                await self._full.wait()
        except TimeoutError:
            return

    async def _keep(self, entries: list[JournalEntry]) -> None:
        if not entries:
            return
        try:
            await self._store.log(self._turn_id, entries)
        except SandtableError as error:
            log.error("turn_log_not_written", turn_id=self._turn_id, reason=error.message)


def _without_older_states(entries: list[JournalEntry]) -> list[JournalEntry]:
    states = [entry.number for entry in entries if entry.kind == "state"]
    return [entry for entry in entries if entry.kind != "state" or entry.number == states[-1]]


async def read_stored(store: ThreadStore, thread_id: str, turn_id: str, after: int = 0) -> EntryStream:
    """The entries in the store: of a turn that has ended, or that another server works on."""
    kind, quiet_since = "", time.monotonic()
    with store.news.watch(turn_id) as news:
        while True:
            news.clear()
            turn = await store.turn(thread_id, turn_id)
            for entry in await store.logged(turn_id, after):
                yield entry
                after, kind, quiet_since = entry.number, entry.kind, time.monotonic()
            if await store.logged(turn_id, after, limit=1):
                continue
            if turn is None or not turn.under_way:
                if turn and turn.error and kind != "failed":
                    yield JournalEntry(after + 1, "failed", encode(TurnFailed.model_validate(turn.error)))
                return
            if not await _notified(news, LOOK_RARELY_S if store.notifies else LOOK_AGAIN_S):
                await store.recover()
            if time.monotonic() - quiet_since > HEARTBEAT_S:
                yield None
                quiet_since = time.monotonic()


async def _notified(news: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await news.wait()
    except TimeoutError:
        return False
    return True
