"""The reading in parts over every wire, and a choice of it sent back as a plan."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sandtable.runs.model import LONGEST_PLAN
from tests.server.talking import Served, served
from tests.server.v2.listening import ask, listen

PLAN = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"agg": "count", "as": "count"}],
    "limit": 5,
}


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


def _labels(read: dict[str, Any]) -> list[tuple[str, str]]:
    return [(part["kind"], part["source"]) for part in read["parts"]]


async def test_chat(server: Served) -> None:
    first = (await server.client.post("/chat", json={"dataset_id": "shop", "message": "plan it"})).json()
    assert first["read_as"]["question"] == "plan it" and first["read_as"]["parts"][0]["kind"] == "measure"
    body = {"thread_id": first["thread_id"], "message": "Read it so", "plan": PLAN}
    chosen = (await server.client.post("/chat", json=body)).json()
    assert chosen["ending"] == "answered" and chosen["plan"] == PLAN
    assert _labels(chosen["read_as"]) == [("measure", "kept"), ("limit", "chosen")]
    run = (await server.client.get(f"/runs/{chosen['run_ids'][0]}")).json()
    assert (run["plan"], run["question"]) == (PLAN, "Read it so")


async def test_a_run_has_the_marks_of_its_reading(server: Served) -> None:
    asked = (await server.client.post("/chat", json={"dataset_id": "shop", "message": "plan it"})).json()
    body = {"thread_id": asked["thread_id"], "message": "Read it so", "plan": PLAN}
    chosen = (await server.client.post("/chat", json=body)).json()
    marks: list[list[str]] = []
    for answer in (asked, chosen):
        run = (await server.client.get(f"/runs/{answer['run_ids'][0]}")).json()
        assert run["trust"] == answer["read_as"]["trust"]
        marks.append(run["trust"])
    assert marks == [["read_literally"], []]
    body = {"dataset_id": "shop", "plan": PLAN}
    assert (await server.client.post("/runs?wait=5", json=body)).json()["trust"] == []


async def test_langgraph(server: Served) -> None:
    thread = await server.new_thread()
    message = {
        "type": "human",
        "content": "Read it so",
        "additional_kwargs": {"sandtable": {"plan": PLAN, "more": 1}, "other": 2},
    }
    events = await server.events(thread, None, input={"messages": [message]})
    planned = next(e.data for e in events if e.name == "custom" and e.data["type"] == "plan")
    assert planned["plan"] == PLAN and planned["read_as"]["parts"][0]["label"] == "number of orders"
    values = [e.data for e in events if e.name == "values"][-1]
    assert values["messages"][0]["additional_kwargs"] == {"sandtable": {"plan": PLAN}}
    answer = next(ui for ui in values["ui"] if ui["name"] == "answer")
    assert answer["props"]["read_as"] == planned["read_as"]


async def test_websocket(server: Served) -> None:
    first = await ask(server.client, "plan it")
    said = await listen(first["websocket_url"])
    read = json.loads(next(one["payload"] for one in said if one["type"] == "reading"))
    assert read["parts"][0]["label"] == "number of orders"
    chosen = await ask(server.client, "Read it so", session_id=first["session_id"], plan=PLAN)
    said = await listen(chosen["websocket_url"], after=said[-1]["seq"])
    read = json.loads(next(one["payload"] for one in said if one["type"] == "reading"))
    assert _labels(read) == [("measure", "kept"), ("limit", "chosen")]


def _likely(read: dict[str, Any]) -> None:
    measure = read["parts"][0]
    assert (measure["label"], measure["source"]) == ("total amount", "likely")
    assert [words["text"] for words in measure["words"]] == ["takings"]
    assert measure["choices"] and read["trust"] == ["proposed_by_model"]


async def test_a_likely_part_over_every_wire(server: Served) -> None:
    said = (await server.client.post("/chat", json={"dataset_id": "shop", "message": "takings"})).json()
    _likely(said["read_as"])
    assert "*Read as: total amount (likely: “takings”)*" in said["message"]
    run = (await server.client.get(f"/runs/{said['run_ids'][0]}")).json()
    assert (run["origin"]["proposer"], run["trust"]) == ("builtin-reader", ["proposed_by_model"])
    listed = (await server.client.get("/runs?limit=1")).json()["runs"][0]
    assert listed["origin"] == run["origin"]
    report = (await server.client.post(f"/runs/{run['run_id']}/verify")).json()
    question = next(link for link in report["links"] if link["name"] == "question")
    assert question["status"] == "reading" and "proposed by a model" in question["detail"]
    assert "read literally" not in question["detail"]

    events = await server.events(await server.new_thread(), "takings")
    _likely(next(e.data for e in events if e.name == "custom" and e.data["type"] == "plan")["read_as"])
    values = [e.data for e in events if e.name == "values"][-1]
    _likely(next(ui for ui in values["ui"] if ui["name"] == "answer")["props"]["read_as"])

    heard = await listen((await ask(server.client, "takings"))["websocket_url"])
    _likely(json.loads(next(one["payload"] for one in heard if one["type"] == "reading")))


ASKED = "unsure of it"


async def _is_the_answer(server: Served, run_id: str, plan: dict[str, Any]) -> None:
    run = (await server.client.get(f"/runs/{run_id}")).json()
    assert (run["question"], run["plan"]) == (ASKED, plan)
    assert (run["origin"]["proposer"], run["trust"]) == ("builtin-reader", ["proposed_by_model"])


async def test_readings_to_choose_over_every_wire(server: Served) -> None:
    """Each wire has the same choices, and one that is sent back runs as the answer to the question."""
    asked = (await server.client.post("/chat", json={"dataset_id": "shop", "message": ASKED})).json()
    choices = asked["choices"]
    assert asked["ending"] == "asked" and [one["label"] for one in choices] == [
        "Total amount",
        "Average amount",
    ]
    assert "1. Total amount\n2. Average amount" in asked["message"]
    taken = {"message": choices[1]["message"], "plan": choices[1]["plan"]}
    said = (await server.client.post("/chat", json={"thread_id": asked["thread_id"], **taken})).json()
    assert said["ending"] == "answered" and said["choices"] == []
    assert said["read_as"]["question"] == ASKED
    assert said["read_as"]["parts"][0]["source"] == "likely"
    await _is_the_answer(server, said["run_ids"][0], taken["plan"])

    thread = await server.new_thread()
    values = [e.data for e in await server.events(thread, ASKED) if e.name == "values"][-1]
    assert values["messages"][-1]["additional_kwargs"]["sandtable"]["choices"] == choices
    message = {
        "type": "human",
        "content": taken["message"],
        "additional_kwargs": {"sandtable": {"plan": taken["plan"]}},
    }
    events = await server.events(thread, None, input={"messages": [message]})
    ended = [e.data for e in events if e.name == "custom" and e.data["type"] == "message"][-1]
    await _is_the_answer(server, ended["run_ids"][0], taken["plan"])

    first = await ask(server.client, ASKED)
    heard = await listen(first["websocket_url"])
    assert [one["type"] for one in heard][-2:] == ["choices", "final_response"]
    assert json.loads(heard[-2]["payload"]) == choices
    chosen = await ask(server.client, taken["message"], session_id=first["session_id"], plan=taken["plan"])
    heard = await listen(chosen["websocket_url"], after=heard[-1]["seq"])
    assert heard[-1]["type"] == "final_response"
    newest = (await server.client.get("/runs?limit=1")).json()["runs"][0]
    await _is_the_answer(server, newest["run_id"], taken["plan"])


async def test_a_number_picks_a_reading(server: Served) -> None:
    """For clients that know text only."""
    asked = (await server.client.post("/chat", json={"dataset_id": "shop", "message": ASKED})).json()
    body = {"thread_id": asked["thread_id"], "message": "2"}
    said = (await server.client.post("/chat", json=body)).json()
    await _is_the_answer(server, said["run_ids"][0], asked["choices"][1]["plan"])


LONG = json.dumps({**PLAN, "notes": "x" * LONGEST_PLAN})
DEEP = '{"not": ' * 2_000 + "{}" + "}" * 2_000


@pytest.mark.parametrize(("plan", "says"), [(LONG, "bytes"), (DEEP, "deep")], ids=["long", "deep"])
async def test_a_plan_without_bounds_is_refused_at_once(server: Served, plan: str, says: str) -> None:
    text = f'{{"dataset_id": "shop", "message": "Read it so", "plan": {plan}}}'
    answer = await server.client.post("/chat", content=text, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500 and says in answer.text, answer.text


async def test_a_decision_has_no_plan(server: Served) -> None:
    body = {"thread_id": "t", "resume": {"decisions": [{"type": "approve"}]}, "plan": PLAN}
    answer = await server.client.post("/chat", json=body)
    assert answer.status_code == 422 and "without a `plan`" in answer.text
