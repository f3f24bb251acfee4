"""The events of a turn that belongs to one connection: in memory, for one reader, and not for replay.

Invariant: adding never waits for the reader. A reader that is far behind misses only events that a later one repeats.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from sandtable.agent.events import Delta, Log, Thought
from sandtable.conversations.journal import HEARTBEAT_S
from sandtable.conversations.turn_events import TurnEvent

MOST_UNREAD = 256
"""Beyond this, events that a reader can do without are dropped."""


class Feed:
    def __init__(self) -> None:
        self._unread: asyncio.Queue[TurnEvent | None] = asyncio.Queue()

    def add(self, event: TurnEvent) -> None:
        if not isinstance(event, Thought | Delta | Log) or self._unread.qsize() < MOST_UNREAD:
            self._unread.put_nowait(event)

    def close(self) -> None:
        self._unread.put_nowait(None)

    async def read(self) -> AsyncGenerator[list[TurnEvent], None]:
        """Events until the end, those that came together as one list; an empty list where a heartbeat is due."""
        ended = False
        while not ended:
            together: list[TurnEvent] = []
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_S):
                    ended = _take(await self._unread.get(), together)
            while not ended and not self._unread.empty():
                ended = _take(self._unread.get_nowait(), together)
            if together or not ended:
                yield together


def _take(event: TurnEvent | None, together: list[TurnEvent]) -> bool:
    """True for the end-of-stream sentinel."""
    if event is not None:
        together.append(event)
    return event is None
