"""`POST /agui` byte by byte: what it takes and refuses, whose threads it reaches, and what ends it."""

from __future__ import annotations

import asyncio
import builtins
import json
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from sandtable.server.app import begin_shutdown
from sandtable.settings import Settings
from tests.server.talking import Served, served

EVENTS = {"accept": "text/event-stream"}


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    home = tmp_path_factory.mktemp("home")
    settings = Settings(home=home, trusted_proxies=(ip_network("127.0.0.1"),))
    async with served(home, settings) as server:
        yield server


@pytest.fixture
def thread() -> str:
    """A name that no other test uses."""
    return f"thread {uuid4()}"


def given(text: str = "hm", thread: str = "a thread", **more: Any) -> dict[str, Any]:
    messages = [{"id": f"m-{text}", "role": "user", "content": text}]
    return {"threadId": thread, "runId": str(uuid4()), "messages": messages, **more}


async def ran(server: Served, body: dict[str, Any], user: str = "ann", path: str = "/agui") -> list[Any]:
    headers = {**EVENTS, "x-sandtable-user": user}
    async with server.client.stream("POST", path, json=body, headers=headers) as answer:
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [json.loads(line[6:]) async for line in answer.aiter_lines() if line.startswith("data: ")]


async def refused(server: Served, body: Any, user: str = "ann", **more: Any) -> tuple[int, dict[str, Any]]:
    headers = {**EVENTS, "x-sandtable-user": user, **more.pop("headers", {})}
    answer = await server.client.post("/agui", json=body, headers=headers, **more)
    return answer.status_code, answer.json()["error"]


def texts(events: list[Any]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")


async def test_a_name_of_a_thread_is_the_users_own(server: Served, thread: str) -> None:
    await ran(server, given("unsure what", thread=thread))
    again = await ran(server, given("and now", thread=thread))
    assert again[0]["threadId"] == thread
    bob = await ran(server, given("hm", thread=thread), user="bob")
    started = [next(e for e in events if e["type"] == "STATE_SNAPSHOT") for events in (again, bob)]
    ids = [event["snapshot"]["sandtable"]["thread_id"] for event in started]
    assert ids[0] != ids[1]
    restated = await ran(server, {**given(thread=thread), "messages": []}, user="bob")
    [snapshot] = [event["messages"] for event in restated if event["type"] == "MESSAGES_SNAPSHOT"]
    assert [one["content"] for one in snapshot] == ["hm", "You said: hm"]

    # The id of Ann's thread is no key to it.
    status, error = await refused(server, given("what did she ask?", thread=ids[0]), user="bob")
    assert (status, error["code"]) == (404, "NOT_FOUND") and "no thread" in error["message"]
    assert await ran(server, given("more", thread=ids[0].upper())), "Ann herself may use either"


async def test_threads_of_other_protocols_go_on(server: Served) -> None:
    body = {"dataset_id": "shop", "message": "hm"}
    asked = await server.client.post("/chat", json=body, headers={"x-sandtable-user": "ann"})
    thread = asked.json()["thread_id"]
    events = await ran(server, given("and now", thread=thread))
    assert texts(events) == "You said: and now"
    status, _ = await refused(server, given("and now", thread=thread), user="bob")
    assert status == 404


async def test_what_was_said_elsewhere_is_context_of_a_new_thread(server: Served, thread: str) -> None:
    before = [
        {"id": "a", "role": "user", "content": "What sells best?"},
        {"id": "b", "role": "assistant", "content": "Kettles."},
        {"id": "c", "role": "reasoning", "content": "…"},
        {"id": "d", "role": "user", "content": [{"type": "text", "text": "hm"}, {"type": "image", "source": {}}]},
    ]  # fmt: skip
    events = await ran(server, {**given(thread=thread), "messages": before})
    assert texts(events) == "You said: hm"
    restated = await ran(server, {**given(thread=thread), "messages": before[:2]})
    [snapshot] = [event["messages"] for event in restated if event["type"] == "MESSAGES_SNAPSHOT"]
    assert [one["content"] for one in snapshot] == ["hm", "You said: hm"], (
        "no run proves what was said elsewhere"
    )


async def test_the_address_may_name_the_dataset_and_a_plan_is_run_as_it_is(
    server: Served, thread: str
) -> None:
    plan = {"table": "orders", "select": [{"agg": "max", "column": "amount", "as": "most"}]}
    events = await ran(server, given("hm", thread, forwardedProps={"plan": plan}), path="/agui?dataset=shop")
    notes = [op for e in events if e["type"] == "STATE_DELTA" for op in e["delta"]]
    assert next(op["value"] for op in notes if op["path"].endswith("/plan"))["select"] == plan["select"]


async def test_the_state_of_a_client_keeps_its_other_members(server: Served, thread: str) -> None:
    events = await ran(server, given(thread=thread, state={"theirs": 1}))
    assert next(e["delta"][0]["path"] for e in events if e["type"] == "STATE_DELTA") == "/sandtable"
    assert not [e for e in events if e["type"] == "STATE_SNAPSHOT"]


async def test_an_interrupt_that_is_not_open_is_passed_over(server: Served, thread: str) -> None:
    await ran(server, given(thread=thread))
    resume = [{"interruptId": "choice:none", "status": "resolved", "payload": "x"}]
    events = await ran(server, given("and now", thread, resume=resume))
    [warned] = [e["value"]["text"] for e in events if e["type"] == "CUSTOM" and e["name"] == "sandtable.log"]
    assert "choice:none" in warned and texts(events) == "You said: and now"


@pytest.mark.parametrize(
    ("change", "status", "says"),
    [
        pytest.param({"threadId": ""}, 422, "`threadId`", id="no thread"),
        pytest.param({"threadId": "x" * 129}, 422, "`threadId`", id="a long thread"),
        pytest.param({"threadId": "a\nb"}, 422, "`threadId`", id="a line break"),
        pytest.param({"threadId": "\ud800"}, 422, "`threadId`", id="half a character"),
        pytest.param({"threadId": 7}, 422, "threadId", id="a number"),
        pytest.param({"runId": "\0"}, 422, "`runId`", id="a NUL in the run"),
        pytest.param({"messages": []}, 422, "nothing to answer", id="nothing asked"),
        pytest.param({"messages": [{"id": "a", "role": "user", "content": " "}]}, 422, "empty", id="blank"),
        pytest.param({"messages": [{"id": "", "role": "user", "content": "a"}]}, 422, "`messages.id`", id="no id"),
        pytest.param({"messages": [{"id": "a", "role": "owner", "content": "a"}]}, 422, "role", id="a role"),
        pytest.param(
            {"messages": [{"id": "a", "role": "user", "content": "a" * 20_000}]}, 413, "characters", id="long"
        ),
        pytest.param({"forwardedProps": {"dataset": "shopp"}}, 404, "did you mean", id="a dataset"),
        pytest.param({"forwardedProps": {"dataset": 5}}, 422, "not a text", id="a number as dataset"),
        pytest.param({"forwardedProps": {"plan": "all"}}, 422, "plan", id="a text as plan"),
        pytest.param({"resume": [{"interruptId": "a", "status": "maybe"}]}, 422, "status", id="a status"),
    ],
)  # fmt: skip
async def test_what_is_refused_before_the_run(
    server: Served, thread: str, change: dict[str, Any], status: int, says: str
) -> None:
    asked = len(server.script.heard)
    body = json.dumps({**given(thread=thread), **change})
    headers = {**EVENTS, "content-type": "application/json", "x-sandtable-user": "ann"}
    answer = await server.client.post("/agui", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert says in error["message"] and (error["suggestion"] or "")[:1].isupper(), error
    assert len(server.script.heard) == asked


async def test_a_used_id_is_no_id_of_another_message(server: Served, thread: str) -> None:
    asked = len(server.script.heard)
    await ran(server, given(thread=thread))
    messages = [{"id": "m-hm", "role": "user", "content": "something else"}]
    status, error = await refused(server, {**given(thread=thread), "messages": messages})
    assert status == 422 and "belongs to another message" in error["message"]
    await ran(server, given("and now", thread=thread))
    events = await ran(server, given("hm", thread=thread))
    assert "MESSAGES_SNAPSHOT" in [e["type"] for e in events], "what has its answer is not asked again"
    assert server.script.heard[asked:] == ["hm", "and now"]


async def test_a_choice_is_answered_with_a_text(server: Served, thread: str) -> None:
    events = await ran(server, given("unsure what", thread=thread))
    [interrupt] = events[-1]["outcome"]["interrupts"]
    entry = {"interruptId": interrupt["id"], "status": "resolved"}
    status, error = await refused(
        server, {**given(thread=thread), "messages": [], "resume": [{**entry, "payload": 1}]}
    )
    assert status == 422 and interrupt["responseSchema"]["enum"][0] in error["suggestion"]
    both = given("and now", thread, resume=[{**entry, "payload": "x"}])
    status, error = await refused(server, both)
    assert status == 422 and "at the same time" in error["message"]


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("text/event-stream", 200),
        ("application/vnd.ag-ui.event+proto, text/event-stream;q=0.5", 200),
        ("*/*", 200),
        ("application/vnd.ag-ui.event+proto", 406),
        ("application/json", 406),
        ("text/event-stream;q=0, application/json", 406),
    ],
)
async def test_content_is_negotiated(server: Served, thread: str, accept: str, status: int) -> None:
    headers = {"accept": accept, "x-sandtable-user": "ann"}
    answer = await server.client.post("/agui", json=given(thread=thread), headers=headers)
    assert answer.status_code == status
    if status == 406:
        assert "text/event-stream" in answer.json()["error"]["suggestion"]


async def test_a_server_without_the_package_says_so(
    server: Served, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def importing(name: str, *rest: Any) -> Any:
        if name == "sandtable.server.agui.encoder":
            raise ModuleNotFoundError("No module named 'ag_ui'", name="ag_ui.core")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", importing)
    status, error = await refused(server, given(thread=thread))
    monkeypatch.undo()
    assert status == 404 and "pip install 'sandtable[ag-ui]'" in error["suggestion"]


async def test_a_server_that_stops_ends_the_stream_with_an_event(tmp_path: Path) -> None:
    async with (
        served(tmp_path) as server,
        server.client.stream("POST", "/agui", json=given("slow one"), headers=EVENTS) as answer,
    ):
        lines = answer.aiter_lines()
        await anext(lines)
        await server.script.waiting.wait()
        stopping = asyncio.create_task(begin_shutdown(server.app, 1))
        rest = [json.loads(line[6:]) async for line in lines if line.startswith("data: ")]
        await stopping
    assert rest[-1]["type"] == "RUN_ERROR" and rest[-1]["code"] == "ServerStopped"
