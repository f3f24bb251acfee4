"""The protocol with its official client against a real server; only the proposer and the sandbox are scripted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.server.agui.driving import Driver, driver
from tests.server.talking import Served, served

pytestmark = [pytest.mark.needs("agui_client"), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with served(tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def driven() -> AsyncIterator[Driver]:
    async with driver() as driven:
        yield driven


@pytest.fixture
def client(driven: Driver) -> Driver:
    """For each test agents of its own, in the same process."""
    return driven.renamed()


def agui(server: Served) -> str:
    return f"{server.url}/agui"


async def test_a_question_a_follow_up_and_the_conversation_again(server: Served, client: Driver) -> None:
    thread = str(uuid4())
    first = await client.run(agui(server), ("q1", "plan it"), threadId=thread, runId="run-1")
    assert first.failure is None
    assert first.kinds[0] == "RUN_STARTED" and first.kinds[-1] == "RUN_FINISHED"
    assert first.events[0]["protocolVersion"] == "1.0"
    assert {"STEP_STARTED", "STEP_FINISHED", "STATE_DELTA", "ACTIVITY_SNAPSHOT"} <= set(first.kinds)
    assert (first.result["ending"], first.pending) == ("answered", [])
    (role, text), (_, answer) = first.said
    assert (role, text) == ("user", "plan it") and "42" in answer
    assert first.shown("table")[0]["rows"] == [[42]] and first.shown("sql")[0]["sql"].startswith("SELECT")
    assert first.answer["plan"]["table"] == "orders" and first.answer["reading"]
    (run_id,) = first.answer["runs"]
    assert first.answer["runs"][run_id]["status"] == "succeeded" and first.result["run_ids"] == [run_id]
    assert (await server.client.get(f"/runs/{run_id}")).json()["status"] == "succeeded"

    second = await client.run(agui(server), ("q2", "And now?"))
    assert second.failure is None
    assert second.said[2:] == [("user", "And now?"), ("assistant", "You said: And now?")]
    assert second.answer == {"runs": {}, **second.result}

    # Another client with the same id gets the conversation, under the same ids.
    again = await client.run(agui(server), agent="two", threadId=thread)
    assert again.failure is None and "MESSAGES_SNAPSHOT" in again.kinds
    assert again.said == second.said
    told = [one["id"] for one in second.messages if one["role"] != "activity"]
    assert [one["id"] for one in again.messages] == told
    assert again.messages[1]["metadata"]["sandtable"]["run_ids"] == [run_id]
    # For the client that has them already nothing changes, and nothing is asked twice.
    asked = len(server.script.heard)
    same = await client.run(agui(server))
    assert same.said == second.said and len(server.script.heard) == asked
    assert [one["id"] for one in same.messages] == [one["id"] for one in second.messages]


async def test_a_question_back_is_an_interrupt_with_choices(server: Served, client: Driver) -> None:
    asked = await client.run(agui(server), ("q1", "unsure what"))
    (pending,) = asked.pending
    assert (pending["reason"], pending["responseSchema"]["type"]) == ("choice", "string")
    labels = pending["responseSchema"]["enum"]
    assert len(labels) == 2 and labels[0] in asked.said[-1][1]
    assert asked.answer["ending"] == "asked" and len(asked.answer["choices"]) == 2

    resume = [{"interruptId": pending["id"], "status": "resolved", "payload": labels[1]}]
    chosen = await client.run(agui(server), resume=resume)
    assert chosen.failure is None and chosen.pending == []
    assert chosen.answer["plan"]["select"][0]["agg"] == "avg" and chosen.result["ending"] == "answered"
    assert chosen.said[2] == ("user", f"Read it as “{labels[1]}”"), "the choice is part of the conversation"
    assert len(chosen.said) == 4


async def test_a_question_back_can_be_answered_in_own_words_or_declined(
    server: Served, client: Driver
) -> None:
    asked = await client.run(agui(server), ("q1", "unsure what"))
    resume = [{"interruptId": asked.pending[0]["id"], "status": "cancelled"}]
    declined = await client.run(agui(server), ("q2", "unsure still"), resume=resume)
    assert declined.failure is None and len(declined.said) == 4
    resume = [{"interruptId": declined.pending[0]["id"], "status": "resolved", "payload": "neither of them"}]
    worded = await client.run(agui(server), resume=resume)
    assert worded.said[-2:] == [("user", "neither of them"), ("assistant", "You said: neither of them")]


@pytest.mark.parametrize(
    ("answer", "ending", "ran"),
    [
        pytest.param(
            {"status": "resolved", "payload": {"type": "approve"}},
            "answered",
            "SELECT 1 AS n FROM orders",
            id="approve",
        ),
        pytest.param(
            {"status": "resolved", "payload": {"type": "edit", "text": "SELECT 2 AS n FROM orders"}},
            "answered",
            "SELECT 2 AS n FROM orders",
            id="edit",
        ),
        pytest.param({"status": "cancelled"}, "refused", None, id="cancelled"),
    ],
)
async def test_sql_that_waits_for_a_person(
    tmp_path: Path, client: Driver, answer: dict[str, object], ending: str, ran: str | None
) -> None:
    async with served(tmp_path, approval="sql") as server:
        asked = await client.run(agui(server), ("q1", "query it"))
        (pending,) = asked.pending
        assert pending["reason"] == "approval" and "SELECT" in asked.answer["sql"]
        assert pending["metadata"]["sandtable"]["args"]["sql"] == asked.answer["sql"]
        # A client that lost the stream finds the question again.
        found = await client.run(agui(server), agent="two", threadId=asked.threadId)
        assert [one["id"] for one in found.pending] == [pending["id"]]

        decided = await client.run(agui(server), resume=[{"interruptId": pending["id"], **answer}])
        assert decided.failure is None and decided.pending == []
        assert decided.answer["ending"] == ending
        if ran is not None:
            run = (await server.client.get(f"/runs/{decided.result['run_ids'][0]}")).json()
            assert " ".join(run["sql"].split()) == ran


async def test_who_hangs_up_ends_the_work_and_can_ask_again(server: Served, client: Driver) -> None:
    thread = str(uuid4())
    gone = await client.run(agui(server), ("q1", "slow one"), threadId=thread, abortAt="STEP_STARTED")
    assert gone.kinds[-1] != "RUN_FINISHED"
    for _ in range(400):
        if server.script.at_work == 0 and (await server.get(f"/threads/{thread}"))["status"] != "busy":
            break
        await asyncio.sleep(0.02)
    assert server.script.at_work == 0
    server.script.go.set()
    again = await client.run(agui(server))
    assert again.said == [("user", "slow one"), ("assistant", "You said: slow one")]
    whole = await server.get(f"/threads/{thread}")
    assert [m["content"] for m in whole["values"]["messages"]] == ["slow one", "You said: slow one"]


async def test_an_unexpected_error_is_an_event_and_says_nothing_of_the_server(
    server: Served, client: Driver
) -> None:
    broken = await client.run(agui(server), ("q1", "boom"))
    last = broken.events[-1]
    assert last["type"] == "RUN_ERROR" and last["code"] == "InternalServerError"
    assert "inside" not in str(broken.events)


async def test_an_error_before_the_run_is_an_http_status(server: Served, client: Driver) -> None:
    refused = await client.run(agui(server), ("q1", "hm"), props={"dataset": "shopp"})
    assert refused.failure is not None and refused.failure["status"] == 404
    assert "did you mean `shop`" in refused.failure["message"]
