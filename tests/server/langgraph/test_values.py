"""Whole states in a turn's journal: small when they are kept, whole when they are heard."""

from __future__ import annotations

import json
from collections.abc import Set
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.types import StateSnapshot

from sandtable.server.json_text import encode
from sandtable.server.langgraph.values import Start, start_of
from sandtable.server.langgraph.wire import shown
from tests.server.talking import WIRE, Served, SseEvent, says, sse

ids = st.lists(st.integers(0, 12), unique=True, max_size=8)
changed = st.sets(st.integers(0, 12), max_size=3)


def _state(numbers: list[int], other: Set[int] = frozenset()) -> dict[str, Any]:
    """The same ids have the same content, but for the `other` ones."""

    def text(number: int) -> str:
        return f"“{number}” {1e20 if number in other else number / 3}"

    return {
        "messages": [AIMessage(text(number), id=str(number)) for number in numbers],
        "ui": [{"type": "ui", "id": f"u{n}", "props": {"rows": [[text(n), None, 0.1]]}} for n in numbers],
        "dataset_id": "shop",
        "turn": {"secret": True},
        "__interrupt__": [{"value": numbers}],
    }


@given(ids, ids, changed)
def test_what_is_heard_is_the_whole_state(before: list[int], after: list[int], other: set[int]) -> None:
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_id": "c"}}
    start = Start(StateSnapshot(_state(before), (), config, None, None, None, (), ()))
    values = _state(after, other)
    kept = start.short(values)
    found = start_of(kept)
    assert found is not None and found[0] == "c"
    assert start.whole(found[1]) == encode(shown(values))
    shared = [number for number in after if number in before and number not in other]
    assert all(f"“{number}”" not in kept for number in shared)


def test_a_thread_without_a_state_is_kept_whole() -> None:
    start = Start(StateSnapshot({}, (), {"configurable": {}}, None, None, None, (), ()))
    assert start_of(start.short(_state([1]))) is None


async def test_a_turns_events_do_not_grow_with_the_thread(server: Served) -> None:
    thread = await server.new_thread()
    for number in range(14):
        await server.events(thread, f"{number} {'word ' * 300}")
    store = (await server.conversation()).store
    turns = await store.turns(thread, limit=20, oldest_first=True)
    sizes = [sum(len(one.data) for one in await store.logged(turn.id, 0)) for turn in turns]
    # A slow turn has an event or two more, a tenth of its size. If events held the thread, they would be fourfold.
    assert max(sizes[-3:]) <= 1.5 * min(sizes[2:5]), sizes


async def test_who_comes_back_hears_whole_states(server: Served) -> None:
    thread = await server.new_thread()
    for text in ("one", "two"):
        await server.events(thread, text)
    live = await server.events(thread, "three")
    run_id = live[0].data["run_id"]
    # As another server would tell it, which has nothing of it in memory.
    (await server.conversation()).conductor._starts._kept.clear()
    url = f"{WIRE}/threads/{thread}/runs/{run_id}/stream"
    async with server.client.stream("GET", url) as answer:
        again = [event async for event in sse(answer)]
    assert _states(again)[-1] == _states(live)[-1]
    assert says(_states(again)[-1]) == says((await server.get(f"/threads/{thread}"))["values"])
    assert not any("__since__" in json.dumps(event.data) for event in (*live, *again))


def _states(events: list[SseEvent]) -> list[Any]:
    return [event.data for event in events if event.name == "values"]


async def test_states_of_a_thread_that_is_gone_are_left_out(server: Served) -> None:
    thread = await server.new_thread()
    await server.events(thread, "one")
    turn = (await server.events(thread, "two"))[0].data["run_id"]
    talk = await server.conversation()
    await talk.conductor.forget(thread)
    talk.conductor._starts._kept.clear()
    async with server.client.stream("GET", f"{WIRE}/threads/{thread}/runs/{turn}/stream") as answer:
        names = [event.name async for event in sse(answer)]
    assert "metadata" in names and "values" not in names
