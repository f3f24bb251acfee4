"""What every thread store holds, whichever database is under it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from sandtable.conversations.model import (
    JournalEntry,
    OwnThreads,
    Thread,
    ThreadBusy,
    ThreadFilter,
    TurnEnd,
    TurnRecord,
    now,
)
from sandtable.conversations.store import ThreadStore
from sandtable.conversations.turn_events import SERVER_STOPPED
from sandtable.errors import NotFound
from tests.conversations.conftest import MakeDatabase

ANSWERED = TurnEnd("success", "idle")


def a_thread(name: str, at: str = "2026-01-01T00:00:00", **more: Any) -> Thread:
    return Thread(id=name, user="ada", created_at=at, updated_at=at, **more)


def a_turn(name: str, thread: str = "t") -> TurnRecord:
    return TurnRecord(id=name, thread_id=thread, dataset_id="shop", created_at=now(), updated_at=now())


async def found(store: ThreadStore, **wanted: Any) -> list[str]:
    return [thread.id for thread in await store.search(ThreadFilter(**wanted))]


async def status(store: ThreadStore, thread_id: str = "t") -> str:
    thread = await store.get(thread_id)
    assert thread
    return thread.status


async def test_a_thread_is_kept_as_it_was_made(store: ThreadStore) -> None:
    made = a_thread(
        "t", metadata={"graph_id": "shop", "n": [1, {"é": None}]}, dataset_id="shop", opening="Hi?"
    )
    assert await store.create(made)
    assert await store.get("t") == made
    assert await store.get("u") is None


async def test_lists_hold_what_one_user_may_see(store: ThreadStore) -> None:
    await store.create(a_thread("a"))
    for name in ("b", "c"):
        await store.create(replace(a_thread(name, metadata={"n": 1}), user="bob"))
    shared = OwnThreads("ada", (("b", "bob"), ("c", "dora"), ("d", "bob")))
    assert await found(store, seen=OwnThreads("ada")) == ["a"]
    assert await found(store, seen=shared) == ["a", "b"]
    assert await found(store, seen=shared, metadata={"n": 1}) == ["b"]
    assert await found(store, seen=shared, limit=1, offset=1) == ["b"]
    assert await store.count(ThreadFilter(seen=shared)) == 2
    assert await found(store, seen=OwnThreads("x' OR '1' = '1")) == []


async def test_the_first_answers_title_stays(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    for number, (title, kept) in enumerate(
        [(None, None), ("Revenue, 2025", "Revenue, 2025"), ("Else", "Revenue, 2025")]
    ):
        turn = a_turn(f"turn{number}")
        await store.accept(turn)
        await store.end(turn, replace(ANSWERED, title=title))
        thread = await store.get("t")
        assert thread and thread.title == kept


async def test_an_answer_that_cannot_be_said_leaves_the_typed_words(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    for number, title in enumerate(["", "Revenue, 2025"]):
        turn = a_turn(f"turn{number}")
        await store.accept(turn)
        await store.end(turn, replace(ANSWERED, title=title))
    thread = await store.get("t")
    assert thread and thread.title == ""


async def test_a_second_thread_of_the_same_name_changes_nothing(store: ThreadStore) -> None:
    await store.create(a_thread("t", metadata={"a": 1}))
    assert not await store.create(a_thread("t", "2026-01-02T00:00:00", metadata={"b": 2}))
    kept = await store.get("t")
    assert kept and kept.metadata == {"a": 1}
    assert await found(store, metadata={"b": 2}) == []
    assert await found(store, metadata={"a": 1}) == ["t"]


async def test_metadata_is_merged_and_found_again(store: ThreadStore) -> None:
    await store.create(a_thread("t", metadata={"a": 1, "gone": True}))
    changed = await store.update("t", {"b": {"x": [1], "w": 2}, "gone": None})
    assert changed and changed.metadata == {"a": 1, "b": {"x": [1], "w": 2}}
    # A new name is no news: the thread keeps its place in lists.
    assert changed.updated_at == "2026-01-01T00:00:00"
    assert await found(store, metadata={"a": 1, "b": {"w": 2, "x": [1]}}) == ["t"]
    assert await found(store, metadata={"gone": True}) == []
    assert await store.update("nobody", {"a": 1}) is None


SEARCHES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("newest first", {}, ["c", "b", "a"]),
    ("oldest first", {"sort_by": "created_at", "descending": False}, ["a", "b", "c"]),
    ("by metadata", {"metadata": {"graph_id": "shop"}}, ["c", "a"]),
    ("text is not a number", {"metadata": {"graph_id": 1}}, []),
    ("by ids", {"ids": ("b", "zzz")}, ["b"]),
    ("by no ids", {"ids": ()}, []),
    ("by status", {"status": "interrupted"}, ["b"]),
    ("second page", {"limit": 1, "offset": 1}, ["b"]),
    ("quotes are values", {"metadata": {"' OR 1=1 --": "%"}}, []),
]


@pytest.mark.parametrize(
    ("wanted", "expected"), [case[1:] for case in SEARCHES], ids=[c[0] for c in SEARCHES]
)
async def test_search(store: ThreadStore, wanted: dict[str, Any], expected: list[str]) -> None:
    await store.create(a_thread("a", "2026-01-01", metadata={"graph_id": "shop"}))
    await store.create(a_thread("b", "2026-01-02", metadata={"graph_id": "else"}, status="interrupted"))
    await store.create(a_thread("c", "2026-01-03", metadata={"graph_id": "shop"}))
    assert await found(store, **wanted) == expected
    if "limit" not in wanted:
        assert await store.count(ThreadFilter(**wanted)) == len(expected)


async def test_a_thread_is_busy_while_a_turn_is_under_way(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    first, second = a_turn("1"), a_turn("2")
    await store.accept(first, "What sells best?")
    await store.accept(second, "And worst?")
    thread = await store.get("t")
    assert thread and (thread.status, thread.dataset_id, thread.opening) == (
        "busy",
        "shop",
        "What sells best?",
    )
    await store.begin(first)
    kept = await store.turn("t", "1")
    assert kept and kept.status == "running" and kept.under_way
    await store.end(first, ANSWERED)
    assert await status(store) == "busy"
    await store.end(second, TurnEnd("interrupted", "interrupted"))
    assert await status(store) == "interrupted"
    assert [(t.id, t.status) for t in await store.turns("t")] == [("2", "interrupted"), ("1", "success")]
    assert [t.id for t in await store.turns("t", status="success")] == ["1"]
    assert [t.id for t in await store.turns("t", limit=1, offset=1)] == ["1"]
    assert [t.id for t in await store.turns("t", offset=1, oldest_first=True)] == ["2"]
    assert (await store.turn_count("t"), await store.turn_count("nobody")) == (2, 0)


async def test_a_turn_ends_once(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    turn = a_turn("1")
    await store.accept(turn)
    await store.end(turn, ANSWERED)
    await store.end(turn, TurnEnd("error", "error", {"error": "late"}))
    await store.begin(turn)
    kept, thread = await store.turn("t", "1"), await store.get("t")
    assert kept and thread
    assert (kept.status, kept.error, thread.status, thread.error) == ("success", None, "idle", None)


async def test_what_broke_is_told_until_the_next_turn(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    await store.accept(turn := a_turn("1"))
    await store.end(turn, TurnEnd("error", "error", {"error": "X", "message": "é"}))
    broken = await store.get("t")
    assert broken and (broken.status, broken.error) == ("error", {"error": "X", "message": "é"})
    await store.accept(a_turn("2"))
    again = await store.get("t")
    assert again and again.error is None


async def test_a_turn_needs_its_thread(store: ThreadStore) -> None:
    with pytest.raises(NotFound, match="no thread `t`"):
        await store.accept(a_turn("1"))
    assert await store.turn("t", "1") is None


async def test_a_deleted_thread_takes_everything_with_it(store: ThreadStore) -> None:
    await store.create(a_thread("t", metadata={"a": 1}))
    await store.accept(turn := a_turn("1"))
    await store.log("1", [JournalEntry(1, "metadata", "{}")])
    assert await store.delete("t")
    assert not await store.delete("t")
    assert await store.logged("1", 0) == []
    assert await store.turns("t") == []
    await store.log("1", [JournalEntry(2, "values", "{}")])
    await store.end(turn, ANSWERED)
    assert await store.logged("1", 0) == []


async def test_a_log_is_read_from_any_event_on(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    await store.accept(a_turn("1"))
    events = [JournalEntry(n, "values", f'{{"n": {n}, "text": "é \\u0000"}}') for n in range(1, 6)]
    await store.log("1", events[:2])
    await store.log("1", events[2:])
    assert await store.logged("1", 0) == events
    assert await store.logged("1", 3) == events[3:]
    assert await store.logged("1", 1, limit=2) == events[1:3]


async def test_logs_are_dropped_by_age_and_by_size_after_the_end(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    for name in ("old", "big", "new", "open"):
        await store.accept(turn := a_turn(name))
        await store.log(name, [JournalEntry(1, "values", "x" * 100)])
        if name != "open":
            await store.end(turn, ANSWERED)
        await asyncio.sleep(0.002)

    async def kept() -> list[str]:
        return [n for n in ("old", "big", "new", "open") if await store.logged(n, 0)]

    old = await store.turn("t", "big")
    assert old
    await store.drop_logs(before=old.updated_at, most_bytes=1000)
    assert await kept() == ["big", "new", "open"]
    await store.drop_logs(before="", most_bytes=150)
    assert await kept() == ["new", "open"]
    await store.drop_logs(before=now(), most_bytes=0)
    assert await kept() == ["open"]


async def test_one_server_at_a_time_answers_in_a_thread(
    store: ThreadStore, make_database: MakeDatabase
) -> None:
    other = ThreadStore(make_database())
    await other.open()
    await store.create(a_thread("t"))
    mine = a_turn("mine")
    await store.accept(mine)
    with pytest.raises(ThreadBusy, match="another server"):
        await other.accept(a_turn("theirs"))
    await other.end(mine, TurnEnd("error", "error"))
    await other.begin(mine)
    kept = await store.turn("t", "mine")
    assert kept and kept.status == "pending"
    await store.end(mine, ANSWERED)
    await other.accept(a_turn("theirs"))
    await other.aclose()


async def test_two_servers_racing_for_a_thread(store: ThreadStore, make_database: MakeDatabase) -> None:
    other = ThreadStore(make_database())
    await other.open()
    for n in range(10):
        await store.create(a_thread(f"t{n}"))
        tries = (store.accept(a_turn(f"a{n}", f"t{n}")), other.accept(a_turn(f"b{n}", f"t{n}")))
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        assert [type(o) for o in outcomes if o is not None] == [ThreadBusy]
    await other.aclose()


async def test_what_a_dead_server_left_is_over(store: ThreadStore, make_database: MakeDatabase) -> None:
    dead = ThreadStore(make_database())
    await dead.open()
    await store.create(a_thread("t"))
    await store.create(a_thread("u"))
    await dead.accept(a_turn("1"))
    await dead.log("1", [JournalEntry(1, "values", "{}")])
    await store.accept(a_turn("2", "u"))
    await dead.aclose()
    heir = ThreadStore(make_database())
    await heir.open()
    await heir.recover()
    thread, turn = await heir.get("t"), await heir.turn("t", "1")
    assert thread and turn
    assert (thread.status, thread.error, turn.status, turn.error) == (
        "error",
        SERVER_STOPPED.stored,
        "error",
        SERVER_STOPPED.stored,
    )
    assert await heir.logged("1", 0)
    assert await status(heir, "u") == "busy", "the living server's turn goes on"
    await heir.aclose()


async def test_a_dead_server_does_not_keep_a_thread_busy(
    store: ThreadStore, make_database: MakeDatabase
) -> None:
    dead = ThreadStore(make_database())
    await dead.open()
    await store.create(a_thread("t"))
    await dead.accept(a_turn("1"))
    await dead.aclose()
    await store.accept(a_turn("2"))
    assert [(t.id, t.status) for t in await store.turns("t")] == [("2", "pending"), ("1", "error")]
    assert await status(store) == "busy"


async def test_everything_is_there_after_a_restart(make_database: MakeDatabase) -> None:
    before = ThreadStore(make_database())
    await before.open()
    thread = a_thread("t", metadata={"graph_id": "shop"})
    await before.create(thread)
    await before.aclose()
    after = ThreadStore(make_database())
    await after.open()
    assert await after.get("t") == replace(thread)
    assert await found(after, metadata={"graph_id": "shop"}) == ["t"]
    await after.aclose()


async def test_marked_turns_are_found_by_user_and_in_their_thread(store: ThreadStore) -> None:
    for thread, user in (("t", "ada"), ("u", "bob")):
        await store.create(replace(a_thread(thread), user=user))
    marked = replace(a_turn("one"), metadata={"via": "a2a", "question": 'no "via": "a2a" and 100%'})
    plain = replace(a_turn("two"), metadata={"question": '"via": "a2a"'})
    further = replace(a_turn("three"), metadata={"via": "a2a", "task": "one"})
    other = replace(a_turn("four", "u"), metadata={"via": "a2a"})
    for turn in (marked, plain, further, other):
        await store.accept(turn)
        await store.begin(turn)
        await store.end(turn, ANSWERED)

    async def found_in(seen: OwnThreads | None, limit: int = 10) -> list[str]:
        return [turn.id for turn in await store.marked({"via": "a2a"}, seen, limit)]

    assert await found_in(OwnThreads("ada")) == ["three", "one"]
    assert await found_in(OwnThreads("ada"), 1) == ["three"]
    assert await found_in(None) == ["four", "three", "one"]
    assert await found_in(OwnThreads("cleo")) == []
    assert await found_in(OwnThreads("cleo", (("u", "bob"), ("t", "bob")))) == ["four"], (
        "the thread's user counts"
    )
    assert [turn.id for turn in await store.marked_in({"task": "one"}, "t", 10)] == ["three"]
    found = await store.turn_named("four")
    assert found is not None and found.thread_id == "u"
    assert await store.turn_named("five") is None


async def test_a_turn_is_marked_only_once_it_has_ended(store: ThreadStore) -> None:
    await store.create(a_thread("t"))
    turn = replace(a_turn("one"), metadata={"via": "a2a"})
    await store.accept(turn)
    assert not await store.mark_ended(turn, {"cancelled": True})
    await store.begin(turn)
    await store.end(turn, ANSWERED)
    assert await store.mark_ended(turn, {"cancelled": True})
    found = await store.turn_named("one")
    assert found is not None and found.metadata == {"via": "a2a", "cancelled": True}
    assert found.updated_at > turn.updated_at
