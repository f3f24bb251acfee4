"""The scripted server itself: what it sends is what the providers' own clients accept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.chat_models import init_chat_model

from tests.agent.models.scripted import KEY, Fail, Say, Scripted, Stall, start_scripted

every_wire = pytest.mark.parametrize("wire", ["openai", "anthropic", "ollama"])
TOOL = {"title": "reply", "description": "d", "type": "object", "properties": {"a": {"type": "integer"}}}


def _model(server: Scripted, wire: str) -> Any:
    given: dict[str, Any] = {"base_url": server.base_url(wire), "disable_streaming": True}
    given |= {} if wire == "ollama" else {"api_key": KEY, "max_retries": 0}
    return init_chat_model("scripted", model_provider=wire, **given)


@every_wire
async def test_text(wire: str) -> None:
    with start_scripted([Say("Hello there.", tokens=(5, 3))]) as server:
        said = await _model(server, wire).ainvoke("hi", stream=False)
    assert str(said.text) == "Hello there."
    assert (said.usage_metadata["input_tokens"], said.usage_metadata["output_tokens"]) == (5, 3)


@every_wire
async def test_tool_calls(wire: str) -> None:
    with start_scripted([Say({"a": 3})]) as server:
        said = await _model(server, wire).bind_tools([TOOL]).ainvoke("hi", stream=False)
        assert server.requests[0].features == {"tools"}
    assert [call["args"] for call in said.tool_calls] == [{"a": 3}]


@every_wire
async def test_steps_are_taken_in_turn_and_the_last_one_stays(wire: str) -> None:
    with start_scripted([Fail(418), Say("one"), Say("two")]) as server:
        model = _model(server, wire)
        with pytest.raises(Exception, match="scripted failure"):
            await model.ainvoke("hi", stream=False)
        assert [str((await model.ainvoke("hi", stream=False)).text) for _ in range(3)] == [
            "one",
            "two",
            "two",
        ]
    assert [request.prompt for request in server.requests] == ["hi"] * 4
    assert json.loads(server.said().splitlines()[0])["messages"]


def test_a_stalled_server_still_closes() -> None:
    with start_scripted([Stall()]) as server:
        assert server.requests == []
