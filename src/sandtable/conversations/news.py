"""Notifications of what other servers do in conversations, passed to the watchers in this process.

A topic is a thread or a turn. A watcher is woken, and reads the store; where the database does not notify (SQLite), no
watcher is woken and each polls.
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
        """The event, or the one given, is set whenever the topic may have changed."""
        event = news or asyncio.Event()
        self._watched.setdefault(topic, set()).add(event)
        try:
            yield event
        finally:
            self._watched[topic].discard(event)
            if not self._watched[topic]:
                del self._watched[topic]

    def on_cancel(self, stop: Callable[[str], None]) -> None:
        """`stop` is called with the id of each turn that is to end."""
        self._stoppers.append(stop)

    def receive(self, payload: str | None) -> None:
        """None means that a notification may have been missed."""
        if payload is None:
            for events in self._watched.values():
                _wake(events)
        elif payload.startswith(CANCEL):
            for stop in self._stoppers:
                stop(payload.removeprefix(CANCEL))
        elif payload.startswith(_NEWS):
            _wake(self._watched.get(payload.removeprefix(_NEWS), set()))


def _wake(events: set[asyncio.Event]) -> None:
    for event in events:
        event.set()
