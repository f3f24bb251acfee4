"""`POST /chat`: one message, one answer; or its events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sandtable.conversations import feed
from sandtable.runs.fair_queue import FairQueue
from tests.server.talking import WIRE, Served, SseEvent, says, served, sse

EVENTS = {"accept": "text/event-stream"}


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


async def ask(server: Served, message: str = "What is what?", **body: Any) -> dict[str, Any]:
    if "thread_id" not in body:
        body["dataset_id"] = "shop"
    answer = await server.client.post("/chat", json={"message": message, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def heard(server: Served, **body: Any) -> list[SseEvent]:
    async with server.client.stream("POST", "/chat", json=body, headers=EVENTS) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [event async for event in sse(answer)]


async def test_an_answer_in_one_piece(server: Served) -> None:
    told = await ask(server, "plan it")
    assert set(told) == {
        "thread_id", "message", "ending", "reading", "read_as", "plan", "sql", "run_ids", "status", "result", "chart",
        "steps", "artifacts", "suggestions", "choices", "error", "others",
    }  # fmt: skip
    assert (told["ending"], told["status"], told["error"]) == ("answered", "succeeded", None)
    assert told["others"] == []
    assert "42" in told["message"]
    assert told["plan"]["table"] == "orders" and told["reading"] and told["sql"].startswith("SELECT")
    assert told["result"]["rows"] == [[42]] and told["result"]["row_count"] == 1
    run = (await server.client.get(f"/runs/{told['run_ids'][0]}")).json()
    assert (run["status"], run["question"]) == ("succeeded", "plan it")


async def test_a_conversation_goes_on(server: Served) -> None:
    first = await ask(server)
    assert first["ending"] == "conversed"
    second = await ask(server, "And now?", thread_id=first["thread_id"])
    assert second["thread_id"] == first["thread_id"]
    assert second["message"] == "You said: And now?"
    third = await ask(server, "With both", thread_id=first["thread_id"], dataset_id="shop")
    assert third["thread_id"] == first["thread_id"]
    whole = await server.get(f"/threads/{first['thread_id']}")
    assert len(says(whole["values"])) == 6, "other interfaces see the same conversation"
    found = await server.post("/threads/search", metadata={"graph_id": "shop"})
    assert [t["values"]["messages"][0]["content"] for t in found] == ["What is what?"]


async def test_events_begin_at_once_and_end_with_the_message(server: Served) -> None:
    body = {"dataset_id": "shop", "message": "slow plan"}
    async with server.client.stream("POST", "/chat", json=body, headers=EVENTS) as answer:
        events = sse(answer)
        first = await anext(events)
        assert first.name == "thread" and first.data["thread_id"]
        await server.script.waiting.wait()
        server.script.go.set()
        rest = [event async for event in events]
    assert [event.name for event in rest][:2] == ["thought", "thought"]
    assert (rest[-1].name, rest[-1].data["ending"]) == ("message", "conversed")
    assert all(event.data["type"] == event.name for event in rest)


async def test_events_of_a_run(server: Served) -> None:
    events = await heard(server, dataset_id="shop", message="plan it")
    names = [event.name for event in events]
    assert {"plan", "sql", "run", "table", "delta", "message"} <= set(names)
    whole = "".join(event.data["text"] for event in events if event.name == "delta")
    assert whole == events[-1].data["text"]


async def test_a_thread_of_another_dataset(server: Served) -> None:
    thread = (await ask(server))["thread_id"]
    talk = await server.conversation()
    await talk.store._db.change(("UPDATE sandtable_threads SET dataset_id = 'else' WHERE id = ?", (thread,)))
    body = {"thread_id": thread, "dataset_id": "shop", "message": "Hm?"}
    refused = await server.client.post("/chat", json=body)
    assert refused.status_code == 422
    assert "is about `else`, not about `shop`" in refused.json()["error"]["message"]


async def test_messages_of_one_thread_wait_for_each_other(server: Served) -> None:
    thread = (await ask(server))["thread_id"]
    both = [asyncio.create_task(ask(server, f"slow {n}", thread_id=thread)) for n in ("a", "b", "c")]
    await server.script.waiting.wait()
    other = await ask(server, "Elsewhere?")
    assert other["message"] == "You said: Elsewhere?", "another conversation does not wait"
    server.script.go.set()
    answers = await asyncio.gather(*both)
    assert {a["message"] for a in answers} == {f"You said: slow {n}" for n in ("a", "b", "c")}
    said = says((await server.get(f"/threads/{thread}"))["values"])
    assert [f"You said: {text}" for text in said[::2]] == said[1::2], "question, answer, question, answer"


@pytest.mark.parametrize("headers", [{}, EVENTS], ids=["json", "events"])
async def test_who_hangs_up_ends_the_work(server: Served, headers: dict[str, str]) -> None:
    body = {"dataset_id": "shop", "message": "slow one"}
    async with httpx.AsyncClient(base_url=server.url) as gone:
        task = asyncio.create_task(gone.post("/chat", json=body, headers=headers))
        await server.script.waiting.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    for _ in range(200):
        if server.script.at_work == 0:
            break
        await asyncio.sleep(0.01)
    assert server.script.at_work == 0
    (thread,) = await server.post("/threads/search")
    runs: list[dict[str, Any]] = []
    for _ in range(200):
        runs = await server.get(f"/threads/{thread['thread_id']}/runs")
        if runs[0]["status"] == "interrupted":
            break
        await asyncio.sleep(0.01)
    assert runs[0]["status"] == "interrupted"
    again = await ask(server, "And now?", thread_id=thread["thread_id"])
    assert again["message"] == "You said: And now?"


async def test_what_breaks_inside_is_told_without_its_text(server: Served) -> None:
    answer = await server.client.post("/chat", json={"dataset_id": "shop", "message": "boom"})
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "RUNNER_INTERNAL_ERROR"
    assert "inside" not in answer.text
    events = await heard(server, dataset_id="shop", message="boom")
    assert (events[-1].name, events[-1].data["problem"]["code"]) == ("error", "RUNNER_INTERNAL_ERROR")
    assert (await server.get(f"/threads/{events[0].data['thread_id']}"))["status"] == "error"


async def test_another_interface_may_take_the_turn(server: Served) -> None:
    thread = (await ask(server))["thread_id"]
    waiting = asyncio.create_task(
        server.client.post("/chat", json={"thread_id": thread, "message": "slow one"})
    )
    await server.script.waiting.wait()
    events = await server.events(thread, "Me first", multitask_strategy="interrupt")
    assert says(events[-1].data)[-1] == "You said: Me first"
    cut = await waiting
    error = cut.json()["error"]
    assert (cut.status_code, error["code"], error["suggestion"]) == (409, "CANCELLED", "Ask again.")
    assert error["message"] == "the answer was cancelled before it was complete"


async def test_a_cancelled_answer_ends_its_stream_with_a_code_of_its_own(server: Served) -> None:
    thread = (await ask(server))["thread_id"]
    listening = asyncio.create_task(heard(server, thread_id=thread, message="slow one"))
    await server.script.waiting.wait()
    await server.events(thread, "Me first", multitask_strategy="interrupt")
    events = await listening
    assert (events[-1].name, events[-1].data["problem"]["code"]) == ("error", "CANCELLED")


async def test_approval(tmp_path: Path) -> None:
    async with served(tmp_path, approval="sql") as server:
        asked = await ask(server, "querying now")
        assert (asked["ending"], asked["status"], asked["run_ids"]) == ("waiting", None, [])
        assert asked["sql"] == "SELECT 1 AS n FROM orders;", "the exact text that would run"
        thread = asked["thread_id"]
        assert (await server.get(f"/threads/{thread}"))["status"] == "interrupted"
        unclear = {"thread_id": thread, "resume": {"decisions": [{"type": "perhaps"}]}}
        assert (await server.client.post("/chat", json=unclear)).json()["ending"] == "waiting"
        yes = {"thread_id": thread, "resume": {"decisions": [{"type": "approve"}]}}
        told = (await server.client.post("/chat", json=yes)).json()
        assert (told["ending"], told["result"]["rows"]) == ("answered", [[42]])
        late = await server.client.post("/chat", json=yes)
        assert late.status_code == 422
        assert "waits for a decision" in late.json()["error"]["message"]
        events = await heard(server, thread_id=thread, message="querying again")
        assert (events[-1].data["ending"], events[-1].data["sql"]) == ("waiting", asked["sql"])
        no = {"thread_id": thread, "resume": {"decisions": [{"type": "reject"}]}}
        assert (await server.client.post("/chat", json=no)).json()["ending"] == "refused"


async def test_not_too_many_turns_at_once(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        talk = await server.conversation()
        talk.line._most = 2
        tasks = [asyncio.create_task(ask(server, "slow one")) for _ in range(2)]
        while server.script.at_work < 2:
            await asyncio.sleep(0.01)
        refused = await server.client.post("/chat", json={"dataset_id": "shop", "message": "Hm?"})
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        server.script.go.set()
        await asyncio.gather(*tasks)


async def test_as_many_turns_at_once_as_there_are_places(server: Served) -> None:
    talk = await server.conversation()
    talk.line.slots = FairQueue("answers", 2, 10)
    tasks = [asyncio.create_task(ask(server, "slow one")) for _ in range(4)]
    while server.script.at_work < 2:
        await asyncio.sleep(0.01)
    # A third one that did not wait for its place would have come this far by now.
    await ask_nothing(server)
    assert server.script.most_at_work == 2
    server.script.go.set()
    await asyncio.gather(*tasks)
    assert server.script.most_at_work == 2


async def ask_nothing(server: Served) -> None:
    for _ in range(5):
        await server.client.get("/langgraph/ok")
        await asyncio.sleep(0.02)


async def test_a_slow_listener_misses_only_what_it_can_do_without(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MOST_UNREAD", 0)
    events = await heard(server, dataset_id="shop", message="plan it")
    assert not {"thought", "delta", "log"} & {event.name for event in events}
    assert events[-1].name == "message"


async def test_a_sign_of_life_while_nothing_happens(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "HEARTBEAT_S", 0.02)
    body = {"dataset_id": "shop", "message": "slow one"}
    async with server.client.stream("POST", "/chat", json=body, headers=EVENTS) as answer:
        async for line in answer.aiter_lines():
            if line.startswith(":"):
                break
        server.script.go.set()


async def test_chat_is_described(server: Served) -> None:
    spec = (await server.client.get("/openapi.json")).json()
    assert "/chat" in spec["paths"]
    assert not [path for path in spec["paths"] if path.startswith(WIRE)]
    assert "Ask in plain language" in (await server.client.get("/docs")).text
    json.dumps(spec)
