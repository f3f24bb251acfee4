"""Tools on every wire: how they are offered, what a call is read as, and endpoints that do not take them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.models import ModelTrouble, choose_endpoint
from sandtable.agent.negotiate import TOOLS_REFUSED_S, Negotiated
from sandtable.agent.proposer import AskBack, Asked, Look, PlanProposal, ToolCall
from sandtable.agent.tools import ARGUMENTS
from tests.agent.models.asking import GOOD, PLAN, asking
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import Call, Fail, Garbage, Late, Request, Say, Step, start_scripted

every_wire = pytest.mark.parametrize(
    ("wire", "model"),
    [
        ("openai", "openai:scripted"),
        ("openai", "openai:gpt-5.5-pro"),
        ("anthropic", "anthropic:scripted"),
        ("ollama", "ollama:scripted"),
    ],
    ids=["openai", "responses", "anthropic", "ollama"],
)
TOOLS = tuple(ARGUMENTS)
LOOKED = Look("execute_sql", {"sql": "SELECT 1"}, {"run_id": "run-1", "rows": [["North"]]})


def looking(**more: Any) -> Asked:
    return asking(**{"tools": TOOLS, **more})


def offered(request: Request) -> list[str]:
    tools: list[dict[str, Any]] = request.body.get("tools") or []
    return [tool.get("function", tool)["name"] for tool in tools]


@every_wire
async def test_tools_are_offered_and_a_call_is_read(wire: str, model: str, opened: Open) -> None:
    with start_scripted([Call("execute_sql", {"sql": "SELECT 1"})]) as server:
        proposed = await opened(server, wire, model=model).propose(looking())
    assert proposed.what == ToolCall("execute_sql", '{"sql": "SELECT 1"}')
    assert offered(server.requests[0]) == ["reply", *TOOLS]
    assert "# Tools" in server.requests[0].prompt
    assert [name for name, _ in proposed.usage.prompts] == ["system.md", "propose.md", "tools.md"]
    assert proposed.usage.tokens_out == 7


@every_wire
async def test_a_call_without_arguments_is_one(wire: str, model: str, opened: Open) -> None:
    with start_scripted([Call("list_datasets", content="Let me see.")]) as server:
        proposed = await opened(server, wire, model=model).propose(looking())
    assert proposed.what == ToolCall("list_datasets", "{}")


@every_wire
async def test_the_reply_is_a_tool_or_a_text(wire: str, model: str, opened: Open) -> None:
    with start_scripted([Call("reply", GOOD), Garbage()]) as server:
        proposer = opened(server, wire, model=model)
        assert (await proposer.propose(looking(looks=(LOOKED,)))).what == PlanProposal(PLAN)
    assert '"gave":{"run_id":"run-1","rows":[["North"]]}' in server.requests[0].prompt


async def test_an_object_as_text_is_a_reply(opened: Open) -> None:
    """An empty list of calls beside it is no call."""
    message = {"role": "assistant", "content": json.dumps(GOOD), "tool_calls": []}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    with start_scripted([Garbage(json.dumps(body))]) as server:
        assert (await opened(server, "openai").propose(looking())).what == PlanProposal(PLAN)
    assert len(server.requests) == 1


async def test_without_calls_left_it_is_asked_as_if_there_were_no_tools(opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, "openai").propose(asking(looks=(LOOKED,)))
    assert offered(server.requests[0]) == [] and server.requests[0].features == {"json_schema"}
    assert '<data name="looks">' in server.requests[0].prompt and "# Tools" not in server.requests[0].prompt


async def test_a_reply_that_cannot_be_read_is_asked_for_in_the_strict_form(opened: Open) -> None:
    def answer(request: Request) -> Step:
        return Call("reply", {"intent": "telepathy"}) if offered(request) else Say(GOOD)

    with start_scripted(answer) as server:
        assert (await opened(server, "openai").propose(looking())).what == PlanProposal(PLAN)
    assert [request.features for request in server.requests] == [{"tools"}, {"json_schema"}]


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(Fail(400, "this model does not support tools"), id="400 that names tools"),
        pytest.param(
            Fail(400, '"auto" tool choice requires --enable-auto-tool-choice'), id="400 that names a flag"
        ),
        pytest.param(Fail(500, "tools param requires --jinja flag"), id="500 that names tools"),
        pytest.param(Fail(404, "No endpoints found that support tool use"), id="404 that names tools"),
        pytest.param(Fail(400, "the prompt exceeds the maximum context length"), id="too long with tools"),
        pytest.param(Fail(422, "extra fields not permitted"), id="an unknown field"),
    ],
)
@pytest.mark.parametrize("wire", ["openai", "ollama"])
async def test_a_server_that_refuses_tools_is_asked_without_them(
    wire: str, refusal: Fail, opened: Open, tmp_path: Path
) -> None:
    with start_scripted(lambda request: refusal if offered(request) else Say(GOOD)) as server:
        first = await opened(server, wire).propose(looking())
        assert first.what == PlanProposal(PLAN)
        assert [name for name, _ in first.usage.prompts] == ["system.md", "propose.md"]
        needed = len(server.requests)
        await opened(server, wire).propose(looking())
    assert len(server.requests) == needed + 1, "another process makes no failed probe"
    assert "# Tools" not in server.requests[-1].prompt
    kept = json.loads((tmp_path / "models.json").read_text("utf-8"))
    assert len(kept["without_tools"]) == 1 and kept["methods"]


async def test_tools_are_tried_again_after_a_week(opened: Open, tmp_path: Path) -> None:
    with start_scripted([Say(GOOD)], refuses=("tools",)) as server:
        await opened(server, "openai").propose(looking())
        endpoint = choose_endpoint(server.settings("openai", tmp_path))
    assert endpoint is not None
    [kept] = json.loads((tmp_path / "models.json").read_text("utf-8"))["without_tools"].values()
    for later, taken in ((0, False), (TOOLS_REFUSED_S - 1, False), (TOOLS_REFUSED_S, True), (-5, True)):
        known = Negotiated(tmp_path / "models.json", lambda later=later: kept + later)
        assert known.takes_tools(endpoint) is taken


@pytest.mark.parametrize("content", ['{"without_tools": 3}', '{"without_tools": {"openai:scripted": "yes"}}'])
async def test_an_unreadable_refusal_is_forgotten(content: str, opened: Open, tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text(content, "utf-8")
    with start_scripted([Call("list_datasets")]) as server:
        assert (await opened(server, "openai").propose(looking())).what == ToolCall("list_datasets", "{}")


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (Fail(401), "refused_key"),
        (Fail(500, "out of memory"), "provider_error"),
        (Fail(429), "rate_limit"),
        (Garbage(), "unreadable"),
    ],
    ids=["401", "500", "429", "garbage"],
)
async def test_a_trouble_that_has_nothing_to_do_with_tools_is_told(
    step: Step, kind: str, opened: Open, tmp_path: Path
) -> None:
    with start_scripted([step]) as server, pytest.raises(ModelTrouble) as caught:
        await opened(server, "openai").propose(looking())
    assert caught.value.kind == kind
    assert all(offered(request) for request in server.requests)
    assert not (tmp_path / "models.json").exists()


async def test_a_request_that_is_wrong_without_tools_as_well_is_not_held_against_them(
    opened: Open, tmp_path: Path
) -> None:
    with (
        start_scripted([Fail(400, "the seed must be 1")]) as server,
        pytest.raises(ModelTrouble, match="seed"),
    ):
        await opened(server, "openai").propose(looking())
    assert not (tmp_path / "models.json").exists()


def _completion(*calls: Any, content: Any = None, finish: str = "tool_calls") -> Garbage:
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return Garbage(json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}))


def _function(name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


SQL = _function("execute_sql", '{"sql": "SELECT 1"}')
REPLY = _function("reply", json.dumps(GOOD))
CALLED = ToolCall("execute_sql", '{"sql": "SELECT 1"}')


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        pytest.param(_completion(SQL, content="I will look."), CALLED, id="content beside it"),
        pytest.param(_completion(SQL, content=json.dumps(GOOD)), CALLED, id="a proposal beside it"),
        pytest.param(_completion(SQL, REPLY), CALLED, id="a call, then a reply"),
        pytest.param(_completion(REPLY, SQL), PlanProposal(PLAN), id="a reply, then a call"),
        pytest.param(_completion(*[SQL] * 60), CALLED, id="many calls"),
        pytest.param(_completion(7, {"function": 3}, _function(4, "{}"), SQL), CALLED, id="between rubbish"),
        pytest.param(_completion(_function("rm" * 500, "{}")), ToolCall("rm" * 32, "{}"), id="a long name"),
        pytest.param(_completion(_function("get_run", None)), ToolCall("get_run", "{}"), id="no arguments"),
        pytest.param(_completion(_function("get_run", 7)), ToolCall("get_run", "{}"), id="a number"),
        pytest.param(
            _completion(_function("get_run", {"a": 1})), ToolCall("get_run", '{"a": 1}'), id="object"
        ),
        pytest.param(_completion(_function("get_run", "{")), ToolCall("get_run", "{"), id="broken JSON"),
        pytest.param(
            _completion(_function("get_run", "x" * 200_000)), ToolCall("get_run", "x" * 200_000), id="huge"
        ),
        pytest.param(
            _completion(_function("", ""), content=json.dumps(GOOD)), PlanProposal(PLAN), id="without a name"
        ),
    ],
)
async def test_hostile_calls(reply: Garbage, what: Any, opened: Open) -> None:
    with start_scripted([reply]) as server:
        assert (await opened(server, "openai").propose(looking())).what == what


async def test_a_call_that_was_cut_off_is_not_made(opened: Open) -> None:
    cut = _completion(_function("execute_sql", '{"sql": "SEL'), finish="length")
    with start_scripted([cut]) as server, pytest.raises(ModelTrouble, match="cut off"):
        await opened(server, "openai").propose(looking())


async def test_a_tool_that_was_not_offered_is_no_call(opened: Open) -> None:
    """Where no tools are offered the reply is read as one, whatever it is called."""
    good = _completion(_function("execute_sql", json.dumps({"intent": "ask_back", "text": "Which?"})))
    with start_scripted([good]) as server:
        assert (await opened(server, "openai").propose(asking())).what == AskBack("Which?")


async def test_looks_take_from_the_time_of_the_proposal(opened: Open) -> None:
    with start_scripted([Late(3, Say(GOOD))]) as server:
        proposer = opened(server, "openai", model_timeout_s=20)
        with pytest.raises(ModelTrouble, match="within 1 s"):
            await proposer.propose(looking(spent_s=19.5))
        assert offered(server.requests[0]) == [], "no tools when half of the time is gone"
        assert (await proposer.propose(asking())).what == PlanProposal(PLAN), (
            "the next question is not refused"
        )
