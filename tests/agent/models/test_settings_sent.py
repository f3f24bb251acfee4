"""What is sent beside the messages: temperature 0, a limit of tokens and a schema, where the endpoint takes them."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.agent.proposer import PlanProposal
from tests.agent.models.asking import GOOD, PLAN, asking
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import Fail, Request, Say, Step, start_scripted


@pytest.mark.parametrize(
    ("wire", "sent"),
    [
        pytest.param("openai", {"temperature": 0, "max_tokens": 4_096}, id="a compatible server"),
        pytest.param("anthropic", {"temperature": 0, "max_tokens": 8_192}, id="anthropic"),
    ],
)
async def test_temperature_and_a_limit_are_sent(wire: str, sent: dict[str, Any], opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, wire).propose(asking())
        body = server.requests[0].body
    assert {name: body.get(name) for name in sent} == sent


async def test_ollama_gets_them_among_its_options(opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, "ollama").propose(asking())
        options = server.requests[0].body["options"]
    assert (options["temperature"], options["num_predict"]) == (0, 4_096)


async def test_what_a_server_refuses_is_left_out_from_then_on(opened: Open) -> None:
    def answer(request: Request) -> Step:
        for name in ("temperature", "max_tokens"):
            if name in request.body:
                return Fail(400, f"Unsupported parameter: '{name}' is not supported with this model.")
        return Say(GOOD)

    with start_scripted(answer) as server:
        proposer = opened(server, "openai")
        first = await proposer.propose(asking())
        needed = len(server.requests)
        await proposer.propose(asking())
    assert first.what == PlanProposal(PLAN)
    assert (needed, len(server.requests)) == (3, 4)


@pytest.mark.parametrize("wire", ["openai", "ollama"])
async def test_a_compatible_server_is_given_the_branches(wire: str, opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, wire).propose(asking())
        body = server.requests[0].body
    schema = body["format"] if wire == "ollama" else body["response_format"]["json_schema"]["schema"]
    assert [branch["properties"]["intent"]["const"] for branch in schema["anyOf"]] == [
        "plan", "sql", "ask_back", "talk", "analysis",
    ]  # fmt: skip


async def test_anthropic_is_given_no_branches_which_it_refuses(opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, "anthropic").propose(asking())
        [tool] = server.requests[0].body["tools"]
    assert "anyOf" not in tool["input_schema"] and tool["input_schema"]["properties"]["plan"]["required"]
