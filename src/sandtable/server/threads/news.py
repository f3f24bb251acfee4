"""What happens in conversations on other servers, heard by those who wait for it here.

A topic is a thread or a turn. Whoever watches is woken, and looks for themselves; where the database tells nothing
(SQLite), nobody is woken and everybody looks again after a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

CANCEL = "turn cancel "
_NEWS = "topic news "


def news_of(topic: str) -> str:
    return f"{_NEWS}{topic}"


def cancel_of(turn_id: str) -> str:
    return f"{CANCEL}{turn_id}"


class News:
    def __init__(self) -> None:
        self._watched: dict[str, set[asyncio.Event]] = {}
        self._stoppers: list[Callable[[str], None]] = []

    @contextmanager
    def watch(self, topic: str, news: asyncio.Event | None = None) -> Generator[asyncio.Event, None, None]:
        """The event, or the one given, is set whenever something may have happened."""
        event = news or asyncio.Event()
        self._watched.setdefault(topic, set()).add(event)
        try:
            yield event
        finally:
            self._watched[topic].discard(event)
            if not self._watched[topic]:
                del self._watched[topic]

    def on_cancel(self, stop: Callable[[str], None]) -> None:
        """`stop` is called with the turns that somebody asks to end."""
        self._stoppers.append(stop)

    def hear(self, said: str | None) -> None:
        """Nothing said means that something was missed."""
        if said is None:
            for events in self._watched.values():
                _wake(events)
        elif said.startswith(CANCEL):
            for stop in self._stoppers:
                stop(said.removeprefix(CANCEL))
        elif said.startswith(_NEWS):
            _wake(self._watched.get(said.removeprefix(_NEWS), set()))


def _wake(events: set[asyncio.Event]) -> None:
    for event in events:
        event.set()
