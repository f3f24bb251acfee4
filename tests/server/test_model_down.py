"""Questions through every door while the chat model is down, or sends what it likes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.agent.model_proposer import ModelProposer
from sandtable.agent.models import choose_endpoint
from sandtable.agent.negotiate import Negotiated
from tests.agent.models.hostile import HOSTILE, PASSWORD, WAITS, HostileServer, start_hostile
from tests.agent.models.scripted import KEY
from tests.server.talking import Served, says, served, sse
from tests.server.v2.listening import ask, listen

QUESTION = "How many orders are there?"
NOTE = "The built-in planner answered this, because openai:hostile "


def _proposer(server: HostileServer, home: Path, timeout_s: float) -> ModelProposer:
    endpoint = choose_endpoint(server.settings("openai", home))
    assert endpoint is not None

    async def no_pause(seconds: float) -> None:
        await asyncio.sleep(0)

    return ModelProposer(endpoint, Negotiated(home / "models.json"), timeout_s, no_pause)


@pytest_asyncio.fixture
async def down(tmp_path: Path) -> AsyncIterator[Served]:
    """Nothing listens where the model should be."""
    with start_hostile() as gone:
        proposer = _proposer(gone, tmp_path, 20.0)
    async with served(tmp_path, proposer=proposer) as server:
        yield server


async def test_chat_says_who_answered(down: Served) -> None:
    answer = await down.client.post("/chat", json={"message": QUESTION, "dataset_id": "shop"})
    got = answer.json()
    assert (answer.status_code, got["ending"], got["error"]) == (200, "answered", None)
    assert f"{NOTE}could not be reached." in got["message"] and "SANDTABLE_MODEL_BASE_URL" in got["message"]
    run = (await down.client.get(f"/runs/{got['run_ids'][0]}")).json()
    assert (run["status"], run["origin"]["proposer"]) == ("succeeded", "builtin")


async def test_the_stream_of_chat_says_who_answered(down: Served) -> None:
    body = {"message": QUESTION, "dataset_id": "shop"}
    headers = {"accept": "text/event-stream"}
    async with down.client.stream("POST", "/chat", json=body, headers=headers) as answer:
        events = [event async for event in sse(answer)]
    assert any(event.name == "thought" and NOTE in event.data["text"] for event in events)
    assert events[-1].name == "message" and NOTE in events[-1].data["text"]


async def test_langgraphs_wire_says_who_answered(down: Served) -> None:
    thread = await down.new_thread(metadata={"graph_id": "shop"})
    events = await down.events(thread, QUESTION)
    values = [event.data for event in events if event.name == "values"]
    assert NOTE in says(values[-1])[-1]


async def test_v2_says_who_answered(down: Served) -> None:
    got = await listen((await ask(down.client, QUESTION))["websocket_url"])
    assert NOTE in got[-1]["payload"]


async def test_a_question_that_only_the_model_could_answer_fails_with_its_trouble(down: Served) -> None:
    answer = await down.client.post("/chat", json={"message": "asdf qwer zxcv", "dataset_id": "shop"})
    got = answer.json()
    assert (answer.status_code, got["ending"]) == (200, "failed")
    assert got["message"].startswith("No connection to openai:hostile at `http://127.0.0.1:")
    assert got["error"]["details"]["kind"] == "unreachable"
    assert PASSWORD not in answer.text


async def test_no_reply_of_a_hostile_model_is_an_error_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandtable.agent.model_limits.LONG_S", float("inf"))
    wrong: dict[str, str] = {}
    with start_hostile() as hostile:
        proposer = _proposer(hostile, tmp_path, 20.0)
        async with served(tmp_path, proposer=proposer) as server:
            # What the model proposes is run where it can be used.
            for case in (case for case in HOSTILE if None not in case.kinds and case not in WAITS):
                hostile.plays(case.play)
                body = {"message": QUESTION, "dataset_id": "shop"}
                answer = await server.client.post("/chat", json=body)
                if answer.status_code != 200 or NOTE not in answer.json()["message"]:
                    wrong[case.id] = answer.text[:200]
                if KEY in answer.text or PASSWORD in answer.text:
                    wrong[case.id] = "a secret"
    assert wrong == {}
