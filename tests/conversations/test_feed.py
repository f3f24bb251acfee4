"""The events of a turn that belongs to one connection."""

from __future__ import annotations

import pytest

from sandtable.agent.events import Delta, Log, Message, Thought
from sandtable.conversations import feed as feeds
from sandtable.conversations.feed import Feed
from sandtable.conversations.turn_events import TurnBegun

ANSWER = Message(text="Hm.", ending="conversed")


async def test_what_came_together_is_read_together() -> None:
    feed = Feed()
    for event in (TurnBegun(), Thought(text="Hm."), ANSWER):
        feed.add(event)
    reading = feed.read()
    assert await anext(reading) == [TurnBegun(), Thought(text="Hm."), ANSWER]
    feed.add(ANSWER)
    feed.close()
    assert [together async for together in reading] == [[ANSWER]]


async def test_a_slow_reader_misses_only_what_a_later_event_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MOST_UNREAD", 1)
    feed = Feed()
    for event in (TurnBegun(), Thought(text="Hm."), Delta(text="H"), Log(text="l"), ANSWER):
        feed.add(event)
    feed.close()
    assert [together async for together in feed.read()] == [[TurnBegun(), ANSWER]]


async def test_a_heartbeat_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "HEARTBEAT_S", 0.01)
    feed = Feed()
    reading = feed.read()
    assert await anext(reading) == []
    feed.close()
    assert [together async for together in reading] == []
