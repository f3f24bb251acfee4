"""Every wire in every situation: a good reply, one to be repaired, and replies that no one can use."""

from __future__ import annotations

import json
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph

from sandtable.agent.models import ModelTrouble
from sandtable.agent.proposer import AskBack, Attempt, PlanProposal, SqlProposal, Talk
from sandtable.errors import ErrorCode, Problem
from sandtable.plan.validate import parse_plan
from tests.agent.models.asking import GOOD, PLAN, QUESTION, asking
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import Fail, Garbage, Hangup, Late, Say, Step, start_scripted

WIRES = ("openai", "anthropic", "ollama")
TEXT = json.dumps(GOOD)


class _Done(TypedDict):
    done: bool


every_wire = pytest.mark.parametrize("wire", WIRES)


@every_wire
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([Say(GOOD)], id="good"),
        pytest.param([Late(0.05, Say(GOOD))], id="slow-first-byte"),
        pytest.param([Say(f"Sure! Here is the plan:\n\n{TEXT}\n\nShall I go on?")], id="prose-around-json"),
        pytest.param([Say(f"```json\n{TEXT}\n```")], id="fenced"),
        pytest.param([Say(f"<think>I could {{}} do it</think>{TEXT}")], id="thinking-aloud"),
        pytest.param([Say({"intent": "plan", "plan": json.dumps(PLAN)})], id="plan-as-text"),
        pytest.param([Say(PLAN)], id="bare-plan"),
        pytest.param([Say({**GOOD, "sql": None, "text": None, "suggestions": None})], id="nulls"),
        pytest.param([Say(TEXT[:40]), Say(GOOD)], id="truncated-then-good"),
        pytest.param([Say("I would rather not."), Say(GOOD)], id="no-json-then-good"),
        pytest.param([Say({"intent": "answer", "plan": PLAN}), Say(GOOD)], id="bad-intent-then-good"),
        pytest.param(
            [Say({"intent": "plan"}), Say({"intent": "sql"}), Say(GOOD)], id="twice-empty-then-good"
        ),
        pytest.param([Fail(500), Say(GOOD)], id="500-once"),
        pytest.param([Fail(529, "overloaded"), Fail(503), Say(GOOD)], id="overloaded-twice"),
        pytest.param([Hangup(), Say(GOOD)], id="hangup-once"),
        pytest.param([Fail(429, headers={"Retry-After": "1"}), Say(GOOD)], id="short-rate-limit"),
    ],
)
async def test_a_plan_is_read(wire: str, steps: list[Step], opened: Open) -> None:
    with start_scripted(steps) as server:
        proposed = await opened(server, wire).propose(asking())
    assert proposed.what == PlanProposal(PLAN)
    assert len(server.requests) == len(steps)


@every_wire
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param({"intent": "sql", "sql": " SELECT 1 "}, SqlProposal("SELECT 1"), id="sql"),
        pytest.param(
            {"intent": "ask_back", "text": "No such column.", "suggestions": ["Orders by region?"]},
            AskBack("No such column.", ("Orders by region?",)),
            id="ask-back",
        ),
        pytest.param({"intent": "talk", "text": "Hello!"}, Talk("Hello!"), id="talk"),
    ],
)
async def test_other_intents(wire: str, reply: dict[str, Any], expected: object, opened: Open) -> None:
    with start_scripted([Say(reply)]) as server:
        assert (await opened(server, wire).propose(asking())).what == expected


@every_wire
async def test_what_it_cost_is_summed_over_all_calls(wire: str, opened: Open) -> None:
    with start_scripted([Say(TEXT[:40], tokens=(100, 5)), Say(GOOD, tokens=(120, 30))]) as server:
        usage = (await opened(server, wire).propose(asking())).usage
    assert (usage.tokens_in, usage.tokens_out) == (220, 35)
    assert usage.latency_ms > 0
    assert [name for name, _ in usage.prompts] == ["system.md", "propose.md"]
    assert all(len(digest) == 64 for _, digest in usage.prompts)


@every_wire
async def test_a_bad_enum_in_the_plan_is_for_the_validator(wire: str, opened: Open) -> None:
    bad = {**PLAN, "select": [{"agg": "typical", "column": "total"}]}
    with start_scripted([Say({"intent": "plan", "plan": bad})]) as server:
        assert (await opened(server, wire).propose(asking())).what == PlanProposal(bad)
    assert len(server.requests) == 1


@every_wire
async def test_a_refusal_goes_back_in_the_validators_own_words(wire: str, opened: Open) -> None:
    bad = {**PLAN, "select": [{"agg": "average", "column": "total"}]}
    with pytest.raises(Exception) as caught:
        parse_plan(bad)
    problem: Problem = caught.value.problem  # type: ignore[attr-defined]  (parse_plan raises InvalidInput)
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, wire).propose(asking(attempts=(Attempt(bad, None, problem),)))
        prompt = server.requests[0].prompt
    assert '"agg":"average"' in prompt
    for told in problem.details["errors"]:
        assert json.dumps(told["message"], ensure_ascii=False)[1:-1] in prompt


@every_wire
async def test_an_unreadable_reply_is_named_when_it_is_asked_again(wire: str, opened: Open) -> None:
    with start_scripted([Say(TEXT[:40]), Say("No."), Say(GOOD)]) as server:
        await opened(server, wire).propose(asking())
    first, second, third = (request.prompt for request in server.requests)
    assert "Refused proposals" not in first
    assert "ends before it is complete" in second
    assert "ends before it is complete" in third and "holds no JSON object" in third


@every_wire
@pytest.mark.parametrize(
    ("attempts", "calls"), [(0, 3), (1, 2), (2, 1), (5, 1)], ids=lambda count: f"{count}-before"
)
async def test_asking_again_has_an_end(wire: str, attempts: int, calls: int, opened: Open) -> None:
    problem = Problem(code=ErrorCode.VALIDATION_ERROR, message="no such column")
    before = (Attempt(PLAN, None, problem),) * attempts
    with start_scripted([Say("No.")]) as server:
        with pytest.raises(ModelTrouble, match="holds no JSON object") as caught:
            await opened(server, wire).propose(asking(attempts=before))
        assert len(server.requests) == calls
    assert caught.value.kind == "unreadable"
    assert caught.value.problem.code is ErrorCode.VALIDATION_ERROR


@every_wire
@pytest.mark.parametrize(
    "body", ["{}", "[]", "null", '"hi"', "<html>", "", '{"choices": []}', '{"message": 3}']
)
async def test_a_body_that_is_no_chat_reply_is_a_trouble(wire: str, body: str, opened: Open) -> None:
    with start_scripted([Garbage(body)]) as server, pytest.raises(ModelTrouble) as caught:
        await opened(server, wire).propose(asking())
    assert caught.value.kind in {"unreadable", "provider_error", "unreachable"}
    assert caught.value.suggestion


@pytest.mark.parametrize("model", ["gpt-5.5-pro", "gpt-5.3-codex"])
async def test_models_that_speak_only_the_responses_api(model: str, opened: Open) -> None:
    with start_scripted([Say(TEXT[:40]), Say(GOOD)]) as server:
        proposed = await opened(server, "openai", model=f"openai:{model}").propose(asking())
    assert proposed.what == PlanProposal(PLAN)
    assert {request.wire for request in server.requests} == {"responses"}
    assert QUESTION in server.requests[0].prompt
    assert (proposed.usage.tokens_in, proposed.usage.tokens_out) == (22, 14)


async def test_a_compatible_server_is_never_asked_for_the_responses_api(opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, "openai", model="openai:my-codex").propose(asking())
    assert [request.wire for request in server.requests] == ["openai"]


@every_wire
async def test_a_proposal_inside_a_graph_is_not_streamed_to_people(wire: str, opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        proposer = opened(server, wire)

        async def node(state: _Done) -> _Done:
            return {"done": (await proposer.propose(asking())).what == PlanProposal(PLAN)}

        graph = StateGraph(_Done).add_node("propose", node).add_edge(START, "propose").compile()
        streamed = [
            chunk async for chunk in graph.astream({"done": False}, stream_mode=["messages", "values"])
        ]
    assert [mode for mode, _ in streamed if mode == "messages"] == []
    assert streamed[-1] == ("values", {"done": True})
