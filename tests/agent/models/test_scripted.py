"""The scripted server itself: what it sends is what the providers' own clients accept, streamed or whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from sandtable.agent.model_call import open_chat_model
from sandtable.agent.models import choose_endpoint
from tests.agent.models.scripted import Fail, Say, Scripted, Stall, start_scripted

every_wire = pytest.mark.parametrize("wire", ["openai", "anthropic", "ollama"])
TOOL = {"title": "reply", "description": "d", "type": "object", "properties": {"a": {"type": "integer"}}}


def _model(server: Scripted, wire: str, *, streaming: bool) -> BaseChatModel:
    endpoint = choose_endpoint(server.settings(wire, Path("/nowhere")))
    assert endpoint is not None
    return open_chat_model(endpoint, 10).model_copy(update={"disable_streaming": not streaming})


@every_wire
@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
async def test_text(wire: str, streaming: bool) -> None:
    with start_scripted([Say("Hello there.", tokens=(5, 3))]) as server:
        model = _model(server, wire, streaming=streaming)
        pieces = [piece async for piece in model.astream("hi")]
        streamed = bool(server.requests[0].body.get("stream"))
    assert "".join(str(piece.text) for piece in pieces) == "Hello there."
    assert streamed is (streaming or wire == "ollama")


@every_wire
@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "whole"])
async def test_tool_calls(wire: str, streaming: bool) -> None:
    with start_scripted([Say({"a": 3})]) as server:
        model = _model(server, wire, streaming=streaming).bind_tools([TOOL])
        pieces = [piece async for piece in model.astream("hi")]
        assert server.requests[0].features == {"tools"}
    whole: Any = sum(pieces[1:], start=pieces[0])  # type: ignore[call-overload]  (pieces of a message add up)
    assert [call["args"] for call in whole.tool_calls] == [{"a": 3}]


@every_wire
async def test_steps_are_taken_in_turn_and_the_last_one_stays(wire: str) -> None:
    with start_scripted([Fail(418), Say("one"), Say("two")]) as server:
        model = _model(server, wire, streaming=False)
        with pytest.raises(Exception, match="scripted failure"):
            await model.ainvoke("hi")
        assert [str((await model.ainvoke("hi")).text) for _ in range(3)] == ["one", "two", "two"]
    assert [request.prompt for request in server.requests] == ["hi"] * 4
    assert json.loads(server.said().splitlines()[0])["messages"]


def test_a_stalled_server_still_closes() -> None:
    with start_scripted([Stall()]) as server:
        assert server.requests == []
