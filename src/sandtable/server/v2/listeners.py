"""The open streams of this process: woken when their session gets a query, closed when the server stops."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

from sandtable.errors import QueueFull
from sandtable.runs.fair_queue import share_of
from sandtable.store.run_store import over_share

MOST = 512
LEAVING_S = 1.0


class Listeners:
    def __init__(self, share: float = 1.0) -> None:
        """`share`: the fraction of all streams that one user may open."""
        self._each = share_of(MOST, share)
        self._news: dict[str, set[asyncio.Event]] = {}
        self._users: Counter[str] = Counter()
        self._gone = asyncio.Event()
        self.closing = asyncio.Event()

    @contextmanager
    def join(self, session_id: str, user: str) -> Generator[asyncio.Event, None, None]:
        """An event that is set when the session has news. Raises QueueFull."""
        if self._users[user] >= self._each:
            raise over_share(user, f"{self._users[user]} streams open")
        if self._users.total() >= MOST:
            raise QueueFull("too many clients listen to streams already", suggestion="Try again later.")
        news = asyncio.Event()
        self._users[user] += 1
        self._news.setdefault(session_id, set()).add(news)
        try:
            yield news
        finally:
            self._users[user] -= 1
            if not self._users[user]:
                del self._users[user]
            self._news[session_id].discard(news)
            if not self._news[session_id]:
                del self._news[session_id]
            if not self._users:
                self._gone.set()

    def wake(self, session_id: str) -> None:
        for news in self._news.get(session_id, ()):
            news.set()

    async def aclose(self) -> None:
        """Asks all streams to close, and waits LEAVING_S for it."""
        self._gone.clear()
        self.closing.set()
        if self._users:
            try:
                async with asyncio.timeout(LEAVING_S):
                    await self._gone.wait()
            except TimeoutError:
                return
