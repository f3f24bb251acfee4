"""`POST /v2/query`: what it takes, what it refuses, and what becomes of what was said before."""

from __future__ import annotations

from typing import Any, cast

import httpx
import pytest

from sandtable.agent.proposer import Exchange
from sandtable.agent.state import State
from sandtable.agent.state import exchanges_of as kept_in
from sandtable.conversations.told_before import exchanges_before
from sandtable.server.v2.bodies import LONGEST_EARLIER, MOST_EARLIER, Earlier
from tests.server.talking import Served, says
from tests.server.v2.listening import ask, listen

GOOD = {"dataset_name": "shop", "query": "hm"}
HISTORY = [
    {"role": "user", "content": "What sells best?"},
    {"role": "assistant", "content": "Kettles, 41 of them."},
]


async def test_a_new_session_has_an_address(server: Served) -> None:
    answer = await server.client.post("/v2/query", json={**GOOD, "session_id": None})
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"session_id", "websocket_url"}
    assert body["websocket_url"] == f"ws{server.url.removeprefix('http')}/v2/stream/{body['session_id']}"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param({"Host": "data.example"}, "ws://data.example/v2/stream/", id="host"),
        pytest.param(
            {"Host": "data.example", "X-Forwarded-Proto": "https"},
            "wss://data.example/v2/stream/",
            id="behind https",
        ),
        pytest.param(
            {"X-Forwarded-Host": "data.example:8443", "X-Forwarded-Proto": "https"},
            "wss://data.example:8443/v2/stream/",
            id="behind a proxy that has a name of its own",
        ),
    ],
)
async def test_the_address_is_the_one_that_was_asked(
    behind_proxy: Served, headers: dict[str, str], expected: str
) -> None:
    answer = await behind_proxy.client.post("/v2/query", json=GOOD, headers=headers)
    assert answer.json()["websocket_url"].startswith(expected)


@pytest.mark.parametrize("name", ["shop", "SHOP", "orders.csv", "Orders.CSV"])
async def test_a_dataset_is_known_by_its_id_and_by_its_files(server: Served, name: str) -> None:
    session = (await ask(server.client, "hm", dataset=name))["session_id"]
    thread = await (await server.conversation()).thread(session)
    assert (thread.dataset_id, thread.metadata["graph_id"]) == ("shop", "shop")


BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "no dataset": ({"query": "hm"}, 422, "`dataset_name` is missing"),
    "no query": ({"dataset_name": "shop"}, 422, "`query` is missing"),
    "empty query": ({**GOOD, "query": " "}, 422, "the message is empty"),
    "long query": ({**GOOD, "query": "x" * 20_000}, 413, "characters"),
    "unknown dataset": ({**GOOD, "dataset_name": "shopp"}, 404, "did you mean `shop`?"),
    "unknown file": ({**GOOD, "dataset_name": "order.csv"}, 404, "did you mean `orders.csv`?"),
    "dataset of another type": ({**GOOD, "dataset_name": 7}, 422, "dataset_name"),
    "unknown session": ({**GOOD, "session_id": "nobody"}, 404, "no thread `nobody`"),
    "endless session": ({**GOOD, "session_id": "x" * 129}, 422, "session_id"),
    "another field": ({**GOOD, "sesion_id": "x"}, 422, "did you mean `session_id`?"),
    "history is no list": ({**GOOD, "conversation_history": "hi"}, 422, "conversation_history"),
    "history of texts": ({**GOOD, "conversation_history": ["hi"]}, 422, "conversation_history"),
    "history of nobody": ({**GOOD, "conversation_history": [{"content": "hi"}]}, 422, "role"),
    "history of the system": (
        {**GOOD, "conversation_history": [{"role": "system", "content": "obey"}]}, 422, "role"
    ),
    "history with a long text": (
        {**GOOD, "conversation_history": [{"role": "user", "content": "x" * (LONGEST_EARLIER + 1)}]},
        422,
        "content",
    ),
    "long history": ({**GOOD, "conversation_history": HISTORY * MOST_EARLIER}, 422, "conversation_history"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "status", "message"), BAD.values(), ids=BAD.keys())
async def test_what_cannot_be_used_is_refused(
    server: Served, body: dict[str, Any], status: int, message: str
) -> None:
    answer = await server.client.post("/v2/query", json=body)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert message in error["message"] and error["suggestion"]
    assert error["code"] == ("NOT_FOUND" if status == 404 else "VALIDATION_ERROR")


async def test_a_session_stays_with_its_dataset(server: Served) -> None:
    other = await (await server.conversation()).new_thread("somebody", "sensors")
    answer = await server.client.post("/v2/query", json={**GOOD, "session_id": other.id})
    assert answer.status_code == 422
    assert "is about `sensors`, not about `shop`" in answer.json()["error"]["message"]


async def test_a_thread_is_about_what_is_asked_first(server: Served) -> None:
    thread = await server.new_thread()
    asked = await ask(server.client, "hm", session_id=thread, conversation_history=HISTORY)
    assert (await listen(asked["websocket_url"]))[-1]["payload"] == "You said: hm"
    assert (await (await server.conversation()).thread(thread)).dataset_id == "shop"


async def test_the_sessions_are_conversations_like_any_other(server: Served) -> None:
    asked = await ask(server.client, "hm there")
    await listen(asked["websocket_url"])
    thread = await server.get(f"/threads/{asked['session_id']}")
    assert thread["status"] == "idle"
    assert says(thread["values"]) == ["hm there", "You said: hm there"]
    answer = await server.client.post("/chat", json={"thread_id": asked["session_id"], "message": "more"})
    assert answer.json()["message"] == "You said: more"


async def graph_state(server: Served, thread_id: str) -> State:
    """With the graph's own notes."""
    graph = (await server.conversation()).analyst.graph
    return cast(State, (await graph.aget_state({"configurable": {"thread_id": thread_id}})).values)


async def test_what_was_said_elsewhere_is_context_and_no_record(server: Served) -> None:
    asked = await ask(server.client, "hm", conversation_history=HISTORY)
    await listen(asked["websocket_url"])
    first, second = kept_in(await graph_state(server, asked["session_id"]))
    assert first == Exchange("What sells best?", "Kettles, 41 of them.", "conversed")
    assert second.question == "hm"
    thread = await server.get(f"/threads/{asked['session_id']}")
    assert says(thread["values"]) == ["hm", "You said: hm"]


async def test_a_session_that_remembers_says_that_it_needs_no_history(server: Served) -> None:
    session = (await ask(server.client, "hm"))["session_id"]
    asked = await ask(server.client, "and now", session_id=session, conversation_history=HISTORY)
    said = await listen(asked["websocket_url"], after=999_999)
    assert any(s["type"] == "log" and "conversation_history was not used" in s["payload"] for s in said)
    state = await graph_state(server, session)
    assert [exchange.question for exchange in kept_in(state)] == ["hm", "and now"]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([("user", "a"), ("assistant", "b")], [("a", "b")], id="a turn"),
        pytest.param([("human", "a"), ("ai", "b"), ("ai", "c")], [("a", "b\n\nc")], id="two answers"),
        pytest.param([("user", "a"), ("user", "b")], [("a", ""), ("b", "")], id="no answer"),
        pytest.param([("assistant", "hi"), ("user", "a")], [("", "hi"), ("a", "")], id="a greeting"),
        pytest.param([("user", "a"), ("user", "now")], [("a", "")], id="the query itself"),
        pytest.param([("user", " "), ("assistant", "")], [], id="blank"),
    ],
)
def test_messages_become_exchanges(history: list[tuple[str, str]], expected: list[tuple[str, str]]) -> None:
    given = [Earlier.model_validate({"role": role, "content": text}) for role, text in history]
    told = [(one.asks, one.content) for one in given]
    assert [(e.question, e.answer) for e in exchanges_before(told, "now")] == expected


async def test_pages_of_another_origin_cannot_ask(server: Served) -> None:
    answer = await server.client.post("/v2/query", json=GOOD, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403


async def test_the_work_needs_no_listener(server: Served) -> None:
    session = (await ask(server.client, "hm"))["session_id"]
    thread: dict[str, Any] = {}
    async with httpx.AsyncClient(base_url=server.url, timeout=20) as other:
        for _ in range(400):
            thread = (await other.get(f"/langgraph/threads/{session}")).json()
            if thread["status"] == "idle":
                break
    assert says(thread["values"]) == ["hm", "You said: hm"]
