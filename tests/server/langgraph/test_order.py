"""Turns that meet: cancelled, waiting for each other, taking over."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.server.talking import WIRE, Served, human, says, served, sse


@pytest.mark.parametrize("wait", [0, 1])
async def test_cancel(server: Served, wait: int) -> None:
    thread = await server.new_thread()
    async with server.stream(thread, "slow one") as answer:
        place = answer.headers["content-location"]
        await server.script.waiting.wait()
        done = await server.client.post(f"{WIRE}{place}/cancel", params={"wait": wait, "action": "interrupt"})
        assert done.status_code == (204 if wait else 202)
        events = [event async for event in sse(answer)]
    assert (events[-1].name, events[-1].data["error"]) == ("error", "UserInterrupt")
    assert (await server.get(place))["status"] == "interrupted"
    assert (await server.get(f"/threads/{thread}"))["status"] == "idle"
    state = await server.get(f"/threads/{thread}/state")
    assert (state["next"], state["tasks"]) == ([], []), "nothing asks the person for anything"
    again = await server.client.post(f"{WIRE}{place}/cancel")
    assert again.status_code == 202
    server.script.go.set()
    assert says((await server.events(thread, "Go on"))[-1].data)[-1] == "You said: Go on"


async def test_turns_of_a_thread_wait_for_each_other(server: Served) -> None:
    thread = await server.new_thread()
    async with server.stream(thread, "slow one") as answer:
        await server.script.waiting.wait()
        body: dict[str, Any] = {"assistant_id": "shop", "multitask_strategy": "enqueue"}
        await server.post(f"/threads/{thread}/runs", **body, input=human("slow two"))
        third = await server.post(f"/threads/{thread}/runs", **body, input=human("slow three"))
        assert server.script.heard == ["slow one"]
        listed = await server.get(f"/threads/{thread}/runs")
        assert [run["status"] for run in listed] == ["pending", "pending", "running"]
        server.script.go.set()
        assert says([e async for e in sse(answer)][-1].data)[-1] == "You said: slow one"
    values = await server.get(f"/threads/{thread}/runs/{third['run_id']}/join")
    assert [text for text in says(values) if text.startswith("You")] == [
        f"You said: slow {n}" for n in ("one", "two", "three")
    ]
    assert server.script.most_at_work == 1


async def test_a_newcomer_may_give_up(server: Served) -> None:
    thread = await server.new_thread()
    async with server.stream(thread, "slow one"):
        await server.script.waiting.wait()
        body = {"assistant_id": "shop", "input": human("two"), "multitask_strategy": "reject"}
        refused = await server.client.post(f"{WIRE}/threads/{thread}/runs", json=body)
        assert refused.status_code == 409
        assert "still under way" in refused.json()["detail"]
        server.script.go.set()


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("interrupt", ["First", "You said: First", "slow one", "two", "You said: two"]),
        ("rollback", ["First", "You said: First", "two", "You said: two"]),
    ],
)
async def test_a_newcomer_may_take_over(server: Served, strategy: str, said: list[str]) -> None:
    thread = await server.new_thread()
    await server.events(thread, "First")
    async with server.stream(thread, "slow one") as answer:
        await server.script.waiting.wait()
        events = await server.events(thread, "two", multitask_strategy=strategy)
        assert [event async for event in sse(answer)][-1].data["error"] == "UserInterrupt"
    assert says(events[-1].data) == said


async def test_rolling_back_the_first_turn(server: Served) -> None:
    thread = await server.new_thread()
    async with server.stream(thread, "slow one"):
        await server.script.waiting.wait()
        events = await server.events(thread, "two", multitask_strategy="rollback")
    assert says(events[-1].data) == ["two", "You said: two"]


@pytest.mark.parametrize("surface", ["wire", "chat"])
async def test_a_turn_can_be_ended_while_it_is_being_written_down(
    server: Served, monkeypatch: pytest.MonkeyPatch, surface: str
) -> None:
    thread = await server.new_thread()
    await server.events(thread, "First")
    store = (await server.conversation()).store
    writing, go, accept = asyncio.Event(), asyncio.Event(), store.accept

    async def slowly(*given: Any) -> None:
        if not writing.is_set():
            writing.set()
            await go.wait()
        await accept(*given)

    monkeypatch.setattr(store, "accept", slowly)
    if surface == "chat":
        body = {"thread_id": thread, "message": "slow one"}
        first = asyncio.create_task(server.client.post("/chat", json=body))
    else:
        body = {"assistant_id": "shop", "input": human("slow one")}
        first = asyncio.create_task(server.client.post(f"{WIRE}/threads/{thread}/runs/wait", json=body))
    await writing.wait()
    second = asyncio.create_task(server.events(thread, "two", multitask_strategy="interrupt"))
    await asyncio.sleep(0.05)
    go.set()
    assert says((await second)[-1].data)[-1] == "You said: two"
    await first
    assert "slow one" not in server.script.heard


async def test_a_new_message_instead_of_a_decision(tmp_path: Path) -> None:
    async with served(tmp_path, approval="sql") as server:
        thread = await server.new_thread()
        await server.events(thread, "querying now")
        events = await server.events(thread, "Never mind")
        assert says(events[-1].data)[-1] == "You said: Never mind"
        assert (await server.get(f"/threads/{thread}"))["status"] == "idle"
