"""Whole states in a turn's journal: small when they are kept, whole when a client gets them."""

from __future__ import annotations

import json
from typing import Any

from tests.server.talking import WIRE, Served, SseEvent, says, sse


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
    (await server.conversation()).turns._starts._kept.clear()
    url = f"{WIRE}/threads/{thread}/runs/{run_id}/stream"
    async with server.client.stream("GET", url) as answer:
        again = [event async for event in sse(answer)]
    assert _states(again)[-1] == _states(live)[-1]
    assert says(_states(again)[-1]) == says((await server.get(f"/threads/{thread}"))["values"])
    assert not any('"since":' in json.dumps(event.data) for event in (*live, *again))


def _states(events: list[SseEvent]) -> list[Any]:
    return [event.data for event in events if event.name == "values"]


async def test_states_of_a_thread_that_is_gone_are_left_out(server: Served) -> None:
    thread = await server.new_thread()
    await server.events(thread, "one")
    turn = (await server.events(thread, "two"))[0].data["run_id"]
    talk = await server.conversation()
    await talk.threads.forget(thread)
    talk.turns._starts._kept.clear()
    async with server.client.stream("GET", f"{WIRE}/threads/{thread}/runs/{turn}/stream") as answer:
        names = [event.name async for event in sse(answer)]
    assert "metadata" in names and "values" not in names
