"""The events of a turn: for those who listen, for those who are slow, for those who come back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandtable.server.threads import journal as journals
from sandtable.server.threads.journal import Journal, read_stored
from sandtable.server.threads.model import Happening, TurnEnd
from sandtable.server.threads.store import LOST, ThreadStore
from sandtable.store.run_store import StoreFull
from tests.server.threads.test_store import ANSWERED, a_thread, a_turn


async def heard(listening: journals.Heard) -> list[Any]:
    return [one and (one.number, one.name) async for one in listening]


async def begun(store: ThreadStore, **options: Any) -> Journal:
    await store.create(a_thread("t"))
    await store.accept(a_turn("1"))
    return Journal(store, "1", **options)


async def test_everything_is_heard_in_order_and_kept(store: ThreadStore) -> None:
    journal = await begun(store)
    journal.add("metadata", "{}")
    listener = asyncio.create_task(heard(journal.read()))
    await asyncio.sleep(0)
    journal.add("custom", '"é"')
    await journal.flush()
    journal.close()
    assert await listener == [(1, "metadata"), (2, "custom")]
    assert await heard(journal.read(after=1)) == [(2, "custom")]
    assert await store.logged("1", 0) == [Happening(1, "metadata", "{}"), Happening(2, "custom", '"é"')]


async def test_of_states_written_together_the_newest_is_kept(store: ThreadStore) -> None:
    journal = await begun(store)
    for name in ("values", "custom", "values", "values", "custom"):
        journal.add(name, "{}")
    await journal.flush()
    journal.close()
    assert [one.number for one in await store.logged("1", 0)] == [2, 4, 5]
    assert len(await heard(journal.read())) == 5


async def test_adding_never_waits_and_memory_is_bounded(store: ThreadStore) -> None:
    journal = await begun(store, kept_bytes=1000)
    slow = journal.read()
    journal.add("values", "x" * 100)
    assert (await anext(slow)) == Happening(1, "values", "x" * 100)
    for _ in range(50):
        journal.add("values", "x" * 100)
    await journal.flush()
    journal.close()
    rest = await heard(slow)
    assert rest == [(n, "values") for n in range(42, 52)], "the newest ones, and the last for certain"


async def test_a_single_event_may_be_larger_than_the_bound(store: ThreadStore) -> None:
    journal = await begun(store, kept_bytes=10)
    journal.add("values", "x" * 100)
    await journal.flush()
    journal.close()
    assert await heard(journal.read()) == [(1, "values")]


async def test_a_sign_of_life(store: ThreadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "HEARTBEAT_S", 0.01)
    journal = await begun(store)
    listening = journal.read()
    assert await anext(listening) is None
    journal.add("custom", "{}")
    assert await anext(listening) == Happening(1, "custom", "{}")
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
    journal.add("custom", "{}")
    await journal.flush()
    journal.close()
    assert await heard(journal.read()) == [(1, "custom")]
    assert [line["reason"] for line in log_lines() if line["event"] == "turn_log_not_written"]


async def test_what_another_server_works_on_can_be_heard(
    store: ThreadStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "LOOK_AGAIN_S", 0.01)
    await store.create(a_thread("t"))
    await store.accept(turn := a_turn("1"))
    listener = asyncio.create_task(heard(read_stored(store, "t", "1")))
    for n in (1, 2):
        await store.log("1", [Happening(n, "custom", "{}")])
        await asyncio.sleep(0.02)
    await store.end(turn, ANSWERED)
    assert await listener == [(1, "custom"), (2, "custom")]


async def test_the_loss_of_a_server_is_told(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    await store.accept(turn := a_turn("1"))
    await store.log("1", [Happening(7, "custom", "{}")])
    await store.end(turn, TurnEnd("error", "error", LOST))
    assert await heard(read_stored(store, "t", "1")) == [(7, "custom"), (8, "error")]
    assert await heard(read_stored(store, "t", "nobody")) == []
