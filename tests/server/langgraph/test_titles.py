"""A thread is titled by what its first answer computed, unless a person named it; before that, by what was typed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sandtable.settings import Settings
from tests.earlier import TALKED, earlier_home
from tests.server.talking import WIRE, Served, served

COUNTED = "Number of orders"
OTHER = {"table": "orders", "select": [{"agg": "max", "column": "amount", "as": "profit"}]}


async def titles(server: Served, thread: str) -> list[Any]:
    """As a list and as the thread itself have it, and what a list shows of what was typed."""
    [found] = await server.post("/threads/search", ids=[thread])
    one = await server.get(f"/threads/{thread}")
    typed = found["values"]["messages"][0]["content"] if found["values"] else None
    assert found["metadata"].get("title") == one["metadata"].get("title")
    return [found["metadata"].get("title"), typed]


async def rename(server: Served, thread: str, title: str) -> Any:
    answer = await server.client.patch(f"{WIRE}/threads/{thread}", json={"metadata": {"title": title}})
    return answer.json()["metadata"].get("title")


async def test_the_first_answer_gives_the_title_and_later_ones_do_not(server: Served) -> None:
    thread = await server.new_thread()
    assert await titles(server, thread) == [None, None]
    await server.events(thread, "plan the orders pls")
    assert await titles(server, thread) == [COUNTED, "plan the orders pls"]
    await server.events(thread, "and the largest", input=_chosen("and the largest"))
    assert await titles(server, thread) == [COUNTED, "plan the orders pls"]


def _chosen(text: str) -> dict[str, Any]:
    kept = {"sandtable": {"plan": OTHER}}
    return {"messages": [{"type": "human", "content": text, "additional_kwargs": kept}]}


async def test_talk_and_a_failure_are_no_answer(server: Served) -> None:
    thread = await server.new_thread()
    await server.events(thread, "What is in here?")
    await server.events(thread, "boom")
    assert await titles(server, thread) == [None, "What is in here?"]
    await server.events(thread, "plan it")
    assert await titles(server, thread) == [COUNTED, "What is in here?"]


async def test_while_it_is_answered_what_was_typed_is_the_title(server: Served) -> None:
    thread = await server.new_thread()
    asking = asyncio.create_task(server.events(thread, "plan slow"))
    await server.script.waiting.wait()
    assert await titles(server, thread) == [None, "plan slow"]
    server.script.go.set()
    await asking
    assert await titles(server, thread) == [COUNTED, "plan slow"]


async def test_sql_has_no_plan_that_would_say_what_it_computes(server: Served) -> None:
    thread = await server.new_thread()
    await server.events(thread, "query one")
    await server.events(thread, "plan it")
    assert await titles(server, thread) == [None, "query one"]


async def test_a_persons_own_name_wins(server: Served) -> None:
    before, after = await server.new_thread(metadata={"title": "Mine"}), await server.new_thread()
    for thread in (before, after):
        await server.events(thread, "plan it")
    assert (await titles(server, before))[0] == "Mine"
    assert await rename(server, after, "Orders, for Ada") == "Orders, for Ada"
    await server.events(after, "plan it again")
    assert (await titles(server, after))[0] == "Orders, for Ada"


async def test_every_protocol_titles_its_threads(server: Served) -> None:
    asked = await server.client.post("/chat", json={"dataset_id": "shop", "message": "plan it"})
    assert await titles(server, asked.json()["thread_id"]) == [COUNTED, "plan it"]
    begun = await server.client.post("/v2/query", json={"dataset_name": "shop", "query": "plan that"})
    thread = begun.json()["session_id"]
    while (await server.get(f"/threads/{thread}"))["status"] == "busy":
        await asyncio.sleep(0.02)
    assert await titles(server, thread) == [COUNTED, "plan that"]


async def test_a_decision_leads_to_the_answer(tmp_path: Path) -> None:
    async with served(tmp_path, approval="sql") as server:
        waiting = await server.client.post("/chat", json={"dataset_id": "shop", "message": "plan it"})
        thread = waiting.json()["thread_id"]
        assert (waiting.json()["ending"], (await titles(server, thread))[0]) == ("waiting", None)
        body = {"thread_id": thread, "resume": {"decisions": [{"type": "approve"}]}}
        assert (await server.client.post("/chat", json=body)).json()["ending"] == "answered"
        assert await titles(server, thread) == [COUNTED, "plan it"]


async def test_a_restart_keeps_titles(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        thread = await server.new_thread()
        await server.events(thread, "plan it")
    async with served(tmp_path) as server:
        assert await titles(server, thread) == [COUNTED, "plan it"]


@pytest.mark.parametrize("question", ["plan it", "query it"])
async def test_threads_of_an_earlier_version_keep_their_titles(tmp_path: Path, question: str) -> None:
    earlier_home(tmp_path)
    async with served(tmp_path, Settings(home=tmp_path)) as server:
        before = await titles(server, TALKED)
        assert before[0] is None and before[1]
        await server.events(TALKED, question)
        assert await titles(server, TALKED) == before
