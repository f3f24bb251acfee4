"""The events of a turn: for those who listen, for those who are slow, for those who come back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandtable.agent.events import Thought
from sandtable.agent.turn_events import StateReached
from sandtable.conversations import journal as journals
from sandtable.conversations.journal import Journal, read_stored
from sandtable.conversations.model import JournalEntry, TurnEnd
from sandtable.conversations.store import ThreadStore
from sandtable.conversations.turn_events import SERVER_STOPPED, TurnBegun
from sandtable.conversations.turn_start import TurnStart
from sandtable.store.run_store import StoreFull
from tests.conversations.test_store import ANSWERED, a_thread, a_turn

THOUGHT = Thought(text="é")
STATE = StateReached({"dataset_id": "x" * 62})


async def heard(listening: journals.EntryStream) -> list[Any]:
    return [one and (one.number, one.kind) async for one in listening]


async def begun(store: ThreadStore, **options: Any) -> Journal:
    await store.create(a_thread("t"))
    await store.accept(a_turn("1"))
    return Journal(store, "1", **options)


async def test_everything_is_heard_in_order_and_kept(store: ThreadStore) -> None:
    journal = await begun(store)
    journal.add(TurnBegun())
    listener = asyncio.create_task(heard(journal.read()))
    await asyncio.sleep(0)
    journal.add(THOUGHT)
    await journal.flush()
    journal.close()
    assert await listener == [(1, "begun"), (2, "event")]
    assert await heard(journal.read(after=1)) == [(2, "event")]
    assert await store.logged("1", 0) == [
        JournalEntry(1, "begun", '{"attempt":1}'),
        JournalEntry(2, "event", '{"type":"thought","text":"é"}'),
    ]


async def test_of_states_written_together_the_newest_is_kept(store: ThreadStore) -> None:
    journal = await begun(store)
    for event in (STATE, THOUGHT, STATE, STATE, THOUGHT):
        journal.add(event)
    await journal.flush()
    journal.close()
    assert [one.number for one in await store.logged("1", 0)] == [2, 4, 5]
    assert len(await heard(journal.read())) == 5


async def test_adding_never_waits_and_memory_is_bounded(store: ThreadStore) -> None:
    one = len(TurnStart().short(STATE))
    journal = await begun(store, kept_bytes=10 * one)
    slow = journal.read()
    journal.add(STATE)
    assert await anext(slow) == JournalEntry(1, "state", TurnStart().short(STATE))
    for _ in range(50):
        journal.add(STATE)
    assert len(journal._kept) == 10
    await journal.flush()
    journal.close()
    assert await heard(slow) == [(n, "state") for n in range(42, 52)], "the newest, and the last for certain"


async def test_a_slow_reader_gets_from_the_store_what_memory_does_not_keep(store: ThreadStore) -> None:
    journal = await begun(store, kept_bytes=1)
    slow = journal.read()
    journal.add(TurnBegun())
    assert await anext(slow) == JournalEntry(1, "begun", '{"attempt":1}')
    for _ in range(300):
        journal.add(THOUGHT)
    listener = asyncio.create_task(heard(slow))
    await asyncio.sleep(0)
    journal.add(THOUGHT)
    await journal.flush()
    journal.close()
    assert await listener == [(n, "event") for n in range(2, 303)]


async def test_a_single_event_may_be_larger_than_the_bound(store: ThreadStore) -> None:
    journal = await begun(store, kept_bytes=10)
    journal.add(STATE)
    await journal.flush()
    journal.close()
    assert await heard(journal.read()) == [(1, "state")]


async def test_a_sign_of_life(store: ThreadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "HEARTBEAT_S", 0.01)
    journal = await begun(store)
    listening = journal.read()
    assert await anext(listening) is None
    journal.add(TurnBegun())
    assert await anext(listening) == JournalEntry(1, "begun", '{"attempt":1}')
    await journal.flush()
    journal.close()
    assert await heard(listening) == []


async def test_a_full_disk_does_not_stop_the_conversation(
    store: ThreadStore, monkeypatch: pytest.MonkeyPatch, log_lines: Any
) -> None:
    async def full(*_: Any) -> None:
        raise StoreFull("no space is left", suggestion="Free some.")

    journal = await begun(store)
    monkeypatch.setattr(store, "log", full)
    journal.add(THOUGHT)
    await journal.flush()
    journal.close()
    assert await heard(journal.read()) == [(1, "event")]
    assert [line["reason"] for line in log_lines() if line["event"] == "turn_log_not_written"]


async def test_what_another_server_works_on_can_be_heard(
    store: ThreadStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "LOOK_AGAIN_S", 0.01)
    await store.create(a_thread("t"))
    await store.accept(turn := a_turn("1"))
    listener = asyncio.create_task(heard(read_stored(store, "t", "1")))
    for n in (1, 2):
        await store.log("1", [JournalEntry(n, "event", "{}")])
        await asyncio.sleep(0.02)
    await store.end(turn, ANSWERED)
    assert await listener == [(1, "event"), (2, "event")]


async def test_the_loss_of_a_server_is_told(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    await store.accept(turn := a_turn("1"))
    await store.log("1", [JournalEntry(7, "event", "{}")])
    await store.end(turn, TurnEnd("error", "error", SERVER_STOPPED.stored))
    assert await heard(read_stored(store, "t", "1")) == [(7, "event"), (8, "failed")]
    assert await heard(read_stored(store, "t", "nobody")) == []
