"""A chat model calls tools before it proposes: each call is checked, bounded, run like anything else, and on record."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from sandtable.agent.events import RunState, Table
from sandtable.agent.looking import (
    LONGEST_ARGUMENTS,
    LONGEST_GAVE,
    MOST_GAVE,
    Looking,
    Unusable,
    bounded,
    offered,
    read_call,
    shown_datasets,
    shown_run,
)
from sandtable.agent.prompt_files import as_data
from sandtable.agent.proposer import AskBack, Asked, PlanProposal, Proposal, ToolCall
from sandtable.agent.tools import ARGUMENTS, definitions
from sandtable.capsule.query import CodeQuery, SqlQuery
from sandtable.errors import ErrorCode, Problem
from tests.agent.house import COUNT, PROFILE, SHOP, House, Scripted, kinds, last, open_house
from tests.agent.test_saying import run_of

LOOKING = Looking(3, "off")
ALL = tuple(ARGUMENTS)
QUESTION = "How many orders are there?"
ASKED = Asked(QUESTION, SHOP, PROFILE)


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(tool, json.dumps(arguments))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path, Scripted([PlanProposal(COUNT)]), looking=LOOKING) as made:
        yield made


def gave(house: House) -> list[dict[str, Any]]:
    """What the proposer saw when it was asked last."""
    return [look.gave for look in house.proposer.asked[-1].looks]


async def test_a_query_that_is_looked_at_is_a_run_with_a_capsule(house: House) -> None:
    house.proposer.script = [call("execute_sql", sql="SELECT region FROM orders"), PlanProposal(COUNT)]
    events = await house.ask(QUESTION)
    assert kinds(events) == [
        "run", "run", "log", "table", "plan", "sql", "run", "run", "log", "table", "chart", "message",
    ]  # fmt: skip
    said = last(events)
    assert said.ending == "answered" and len(said.run_ids) == 2
    ran = [event.run_id for event in events if isinstance(event, RunState)]
    assert [*dict.fromkeys(ran)] == list(reversed(said.run_ids)), "the answer's own run is named first"
    looked = await house.runs.get(said.run_ids[1])
    assert (
        looked.request.query == SqlQuery("SELECT region FROM orders") and looked.request.question == QUESTION
    )
    assert looked.request.origin is not None and looked.request.origin.proposer == "scripted:one"
    sealed = json.loads(base64.b64decode((await house.runs.capsule(looked.id))["payload"]))["predicate"]
    assert "SELECT region FROM orders" in json.dumps(sealed)
    assert gave(house)[0]["run_id"] == looked.id and gave(house)[0]["rows"]
    tables = [event.run_id for event in events if isinstance(event, Table)]
    assert tables == list(reversed(said.run_ids))


async def test_the_thread_shows_the_call_and_its_result(house: House) -> None:
    house.proposer.script = [call("execute_plan", plan=COUNT), PlanProposal(COUNT)]
    await house.ask(QUESTION)
    _, first, reply, second, *_ = (await house.state()).values["messages"]
    assert isinstance(first, AIMessage) and first.tool_calls[0]["name"] == "execute_plan"
    assert isinstance(reply, ToolMessage) and reply.tool_call_id == first.tool_calls[0]["id"]
    assert isinstance(second, AIMessage) and second.tool_calls[0]["id"] != first.tool_calls[0]["id"]


async def test_each_tool_gives_what_it_is_for(tmp_path: Path) -> None:
    scripted = Scripted([PlanProposal(COUNT)])
    async with open_house(tmp_path, scripted, looking=Looking(8, "off"), python=True) as house:
        earlier = (await house.say(QUESTION)).run_ids[0]
        scripted.asked.clear()
        scripted.script = [
            call("list_datasets"),
            call("get_schema", dataset_id="stall"),
            call("execute_plan", plan={"table": "orders", "select": [{"agg": "count", "as": "n"}]}),
            call("execute_sql", sql="SELECT region FROM orders"),
            call("execute_python", code="print(len(orders))"),
            call("get_run", run_id=earlier),
            PlanProposal(COUNT),
        ]
        said = await house.say(QUESTION)
        listed, schema, plan, sql, python, run = gave(house)
        assert [each["id"] for each in listed["datasets"]] == ["shop", "stall"]
        assert schema["dataset_id"] == "stall" and schema["tables"][0]["name"] == "orders"
        assert plan["rows"] == [[42]] and sql["status"] == "succeeded"
        assert python["status"] == "succeeded" and "stdout" in python
        assert run["run_id"] == earlier and run["rows"] == [[42]]
        assert said.run_ids[1:] == tuple(each["run_id"] for each in (plan, sql, python))
        code = await house.runs.get(python["run_id"])
        assert code.request.query == CodeQuery("print(len(orders))")


async def test_what_the_gate_refuses_is_told_to_the_model_and_kept(house: House) -> None:
    house.proposer.script = [call("execute_sql", sql="DROP TABLE orders"), PlanProposal(COUNT)]
    said = await house.say(QUESTION)
    assert said.ending == "answered"
    assert gave(house)[0]["status"] == "rejected" and "changes data" in str(gave(house)[0]["error"])
    assert (await house.runs.get(said.run_ids[1])).status == "rejected"


async def test_a_plan_that_does_not_fit_is_told_to_the_model(house: House) -> None:
    house.proposer.script = [call("execute_plan", plan={"table": "nowhere"}), PlanProposal(COUNT)]
    await house.say(QUESTION)
    assert gave(house)[0]["status"] != "succeeded" and gave(house)[0]["error"]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        pytest.param(ToolCall("rm_rf", "{}"), "there is no such tool", id="unknown tool"),
        pytest.param(ToolCall("execute_sql", '{"sql": '), "not JSON", id="broken JSON"),
        pytest.param(ToolCall("execute_sql", "[]"), "no object", id="no object"),
        pytest.param(ToolCall("execute_sql", "{}"), "`sql` must be", id="argument missing"),
        pytest.param(ToolCall("execute_sql", '{"sql": ["SELECT 1"]}'), "`sql` must be", id="wrong type"),
        pytest.param(ToolCall("execute_sql", '{"sql": "\\u0000"}'), "character", id="NUL"),
        pytest.param(ToolCall("execute_plan", "[" * 100_000), "characters", id="huge"),
        pytest.param(ToolCall("execute_plan", '{"plan":' * 90 + "1" + "}" * 90), "nested", id="deep"),
        pytest.param(ToolCall("execute_python", '{"code": "1"}'), "switched off", id="python is off"),
        pytest.param(call("get_run", run_id="run_of_another"), "no run", id="run of another conversation"),
        pytest.param(call("get_schema", dataset_id="none"), "no dataset", id="unknown dataset"),
    ],
)
async def test_a_call_that_cannot_be_made_goes_back_with_the_reason(
    made: ToolCall, reason: str, house: House
) -> None:
    house.proposer.script = [made, PlanProposal(COUNT)]
    said = await house.say(QUESTION)
    assert said.ending == "answered" and len(said.run_ids) == 1
    [only] = gave(house)
    assert reason in only["error"]


async def test_calls_without_end_come_to_one(house: House) -> None:
    """Tools are offered for so many calls; the proposer of this test never stops calling."""
    house.proposer.script = [call("execute_sql", sql=f"SELECT {n} FROM orders") for n in range(9)]
    house.proposer.script.insert(LOOKING.calls, AskBack("Which orders?"))
    said = await house.say(QUESTION)
    assert [bool(asked.tools) for asked in house.proposer.asked] == [True, True, True, False]
    assert said.ending == "asked" and len(said.run_ids) == LOOKING.calls


async def test_the_same_call_is_made_once(house: House) -> None:
    again = call("execute_sql", sql="SELECT region FROM orders")
    house.proposer.script = [again, again, PlanProposal(COUNT)]
    said = await house.say(QUESTION)
    assert len(said.run_ids) == 2 and "called before" in gave(house)[1]["error"]


async def test_the_next_question_begins_without_looks(house: House) -> None:
    house.proposer.script = [call("list_datasets"), PlanProposal(COUNT), PlanProposal(COUNT)]
    await house.say(QUESTION)
    second = await house.say("And how many are there?")
    assert house.proposer.asked[-1].looks == () and len(second.run_ids) == 1


async def test_looks_stay_for_a_repair(house: House) -> None:
    bad: Proposal = PlanProposal({"table": "orders", "select": [{"agg": "sum", "column": "amuont"}]})
    house.proposer.script = [call("list_datasets"), bad, PlanProposal(COUNT)]
    await house.say(QUESTION)
    assert [len(asked.looks) for asked in house.proposer.asked] == [0, 1, 1]
    assert house.proposer.asked[-1].spent_s == pytest.approx(0.0015)


async def test_where_a_person_approves_no_tool_executes(tmp_path: Path) -> None:
    scripted = Scripted([call("execute_sql", sql="SELECT 1"), PlanProposal(COUNT)])
    async with open_house(tmp_path, scripted, looking=LOOKING, approval="sql") as house:
        events = await house.ask(QUESTION)
        assert scripted.asked[0].tools == ("list_datasets", "get_schema", "get_run")
        assert "a person approves here" in gave(house)[0]["error"]
        assert last(events).ending == "waiting" and "run" not in kinds(events)


async def test_a_quota_is_told_to_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = Scripted([call("execute_sql", sql="SELECT 1"), PlanProposal(COUNT)])
    async with open_house(tmp_path, scripted, looking=LOOKING) as house:
        submit = house.runs.submit

        async def full(request: Any) -> Any:
            if isinstance(request.query, SqlQuery):
                from sandtable.errors import SandboxUnavailable

                raise SandboxUnavailable("there is no place left", suggestion="Try again in a moment.")
            return await submit(request)

        monkeypatch.setattr(house.runs, "submit", full)
        said = await house.say(QUESTION)
        assert said.ending == "answered" and "no place left" in gave(house)[0]["error"]


async def test_a_number_that_only_a_tool_gave_is_not_said(house: House) -> None:
    house.proposer.script = [
        call("execute_sql", sql="SELECT region FROM orders"),
        AskBack("There are 4711 orders, so what do you mean?"),
    ]
    said = await house.say(QUESTION)
    assert "4711" not in said.text


async def test_without_the_setting_no_tool_is_offered(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(COUNT)])) as house:
        await house.say(QUESTION)
        assert house.proposer.asked[0].tools == ()
        assert "look" not in house.analyst.graph.nodes


@pytest.mark.parametrize(
    ("approval", "python", "tools"),
    [
        (False, True, set(ALL)),
        (False, False, set(ALL) - {"execute_python"}),
        (True, True, {"list_datasets", "get_schema", "get_run"}),
    ],
)
def test_tools_follow_what_may_run(approval: bool, python: bool, tools: set[str]) -> None:
    assert set(offered(LOOKING, [], approval=approval, python=python)) == tools


def test_no_call_is_offered_after_so_many_characters() -> None:
    much = [{"rows": "x" * (MOST_GAVE // 2)}] * 2
    assert offered(Looking(8, "off"), much[:1], approval=False, python=True)
    assert not offered(Looking(8, "off"), much, approval=False, python=True)


def test_arguments_are_bounded() -> None:
    found = read_call("execute_sql", json.dumps({"sql": "x" * LONGEST_ARGUMENTS}), ALL)
    assert isinstance(found, Unusable) and "more than 16,000" in found.message
    assert read_call("execute_sql", '{"sql": "SELECT 1", "more": 1}', ALL) == {"sql": "SELECT 1"}


@pytest.mark.parametrize("privacy", ["off", "schema"])
def test_what_a_run_gives_is_bounded(privacy: Literal["off", "schema"]) -> None:
    wide = run_of([tuple("x" * 1000 for _ in range(300))] * 40, tuple(f"c{n}" for n in range(300)))
    for run in (wide, run_of([("x" * 1000, n) for n in range(50)])):
        assert len(as_data(bounded(shown_run(run, ASKED, privacy)))) <= LONGEST_GAVE
    many = tuple(SHOP.model_copy(update={"id": f"d{n}", "description": "y" * 900}) for n in range(200))
    assert len(as_data(bounded(shown_datasets(many)))) <= LONGEST_GAVE


def test_with_schema_a_run_is_told_without_its_rows_and_their_number() -> None:
    run = run_of([("Zanzibar", 4711)] * 7, ("region", "Zanzibar"))
    shown = shown_run(run, ASKED, "schema")
    assert shown == {"run_id": "run_1", "status": "succeeded", "columns": {"region": "VARCHAR"}}
    assert shown_run(run, ASKED, "off")["row_count"] == 7


def test_with_schema_an_error_that_may_quote_a_cell_is_withheld() -> None:
    told = Problem(
        code=ErrorCode.RUNNER_INTERNAL_ERROR,
        message="no number: Zanzibar",
        details={"type": "ConversionException"},
    )
    run = run_of([]).model_copy(update={"status": "failed", "error": told, "rows": None})
    assert "Zanzibar" in str(shown_run(run, ASKED, "off"))
    assert "Zanzibar" not in str(shown_run(run, ASKED, "schema"))


def test_every_tool_is_described() -> None:
    for made in definitions(ALL):
        function = made["function"]
        assert len(function["description"]) > 20 and "##" not in function["description"]
        assert function["parameters"]["required"] == list(ARGUMENTS[function["name"]])
