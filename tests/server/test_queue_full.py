"""A full queue has a code of its own on every protocol: a caller who gets it waits, and looks for no sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sandtable.store.run_store import queue_full
from tests.server.talking import WIRE, Served, human, served
from tests.server.v2.listening import ask, listen


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


@pytest.fixture
def no_more_runs(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: Any) -> None:
        raise queue_full(2)

    monkeypatch.setattr(server.house.runs, "submit", full)


async def test_no_more_runs_are_taken(server: Served, no_more_runs: None) -> None:
    answer = await server.client.post("/runs", json={"dataset_id": "shop", "sql": "SELECT 1"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["error"]["code"] == "QUEUE_FULL"
    assert answer.json()["error"]["suggestion"].startswith("Try again when some have finished")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/chat", {"message": "hm"}, id="chat"),
        pytest.param("/v2/query", {"dataset_name": "shop", "query": "hm"}, id="v2"),
        pytest.param(WIRE, {"assistant_id": "shop", "input": human("hm")}, id="langgraph"),
    ],
)
async def test_no_more_answers_are_begun(
    server: Served, path: str, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = await server.new_thread(metadata={"assistant_id": "shop"})
    if path == WIRE:
        path = f"{WIRE}/threads/{thread}/runs"
    elif path == "/chat":
        body = {**body, "dataset_id": "shop"}
    monkeypatch.setattr((await server.conversation()).line, "_most", 0)
    answer = await server.client.post(path, json=body)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["error"]["code"] == "QUEUE_FULL"
    assert answer.json()["error"]["message"] == "too many conversations wait for an answer already"


async def test_an_answer_whose_run_is_not_taken(server: Served, no_more_runs: None) -> None:
    answer = await server.client.post("/chat", json={"dataset_id": "shop", "message": "plan it"})
    told = answer.json()
    assert (answer.status_code, told["ending"], told["error"]["code"]) == (200, "failed", "QUEUE_FULL")
    assert told["message"].startswith("The query was not run: 2 runs are waiting")
    asked = await ask(server.client, "plan it")
    *_, error, final = await listen(asked["websocket_url"])
    assert (error["type"], final["type"]) == ("error", "final_response")
    assert error["payload"].startswith("QUEUE_FULL: 2 runs are waiting")
    thread = await server.new_thread()
    messages = [event.data for event in await server.events(thread, "plan it") if event.name == "custom"]
    assert [m["problem"]["code"] for m in messages if m.get("type") == "message"] == ["QUEUE_FULL"]
