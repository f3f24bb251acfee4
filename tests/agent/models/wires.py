"""How the three providers write the same reply: the bodies and errors of their HTTP wires."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

Wire = Literal["openai", "responses", "anthropic", "ollama"]

_PATHS: dict[str, Wire] = {
    "/chat/completions": "openai",
    "/responses": "responses",
    "/v1/messages": "anthropic",
    "/api/chat": "ollama",
}
_FINISH = {
    "openai": {"stop": "stop", "length": "length", "filtered": "content_filter", "tool": "tool_calls"},
    "anthropic": {"stop": "end_turn", "length": "max_tokens", "filtered": "refusal", "tool": "tool_use"},
    "ollama": {"stop": "stop", "length": "length", "filtered": "stop", "tool": "stop"},
}


@dataclass(frozen=True, slots=True)
class Told:
    text: str
    finish: str
    tokens: tuple[int, int]
    tool: str | None = None
    """The tool that is called with the text; otherwise the first one that the request offers."""
    content: str | None = None
    """What is said beside the call."""


def wire_of(path: str) -> Wire | None:
    return next((wire for end, wire in _PATHS.items() if path.partition("?")[0].endswith(end)), None)


def features_of(wire: Wire, body: dict[str, Any]) -> frozenset[Any]:
    """Which ways to a structured reply the request uses."""
    found: set[str] = {"tools"} if body.get("tools") else set()
    wanted: Any = body.get("format") if wire == "ollama" else body.get("response_format")
    if wire == "responses":
        wanted = (body.get("text") or {}).get("format")
    if wire == "anthropic":
        wanted = (body.get("output_config") or {}).get("format")
    if wire == "ollama" and wanted:
        found.add("json_object" if wanted == "json" else "json_schema")
    elif isinstance(wanted, dict) and wanted.get("type") in {"json_schema", "json_object"}:
        found.add(wanted["type"])
    return frozenset(found)


def prompt_of(wire: Wire, body: dict[str, Any]) -> str:
    said = [body.get("system"), body.get("instructions")]
    for message in [*(body.get("messages") or []), *_listed(body.get("input"))]:
        said.append(message.get("content"))
    return "\n".join(_text(part) for part in said if part)


def failure(wire: Wire, status: int, message: str) -> dict[str, Any]:
    if wire == "ollama":
        return {"error": message}
    if wire == "anthropic":
        return {"type": "error", "error": {"type": "api_error", "message": message}}
    return {"error": {"message": message, "type": "error", "code": status}}


def reply(wire: Wire, body: dict[str, Any], told: Told) -> dict[str, Any]:
    """The body of a reply that is not streamed: the product asks for no other."""
    assert not body.get("stream", wire == "ollama")
    made = {"openai": _openai, "responses": _responses, "anthropic": _anthropic, "ollama": _ollama}
    return made[wire](body, told)


def _openai(body: dict[str, Any], told: Told) -> dict[str, Any]:
    finish = _FINISH["openai"][_ending(body, told)]
    message: dict[str, Any] = {"role": "assistant", "content": told.text}
    if tool := told.tool or _tool_name(body):
        call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": told.text}}
        message = {"role": "assistant", "content": told.content, "tool_calls": [call]}
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = dict(zip(names, (*told.tokens, sum(told.tokens)), strict=True))
    head = {"id": "c1", "created": 1, "model": body.get("model", "")}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}


def _responses(body: dict[str, Any], told: Told) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": told.text, "annotations": []}],
    }
    if tool := told.tool or _tool_name(body):
        item = {"id": "f1", "type": "function_call", "call_id": "call_1", "name": tool, "status": "completed"}
        item["arguments"] = told.text
    cut = told.finish != "stop"
    reasons = {"length": "max_output_tokens", "filtered": "content_filter"}
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": body.get("model", ""),
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": reasons[told.finish]} if cut else None,
        "output": [item],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": told.tokens[0],
            "output_tokens": told.tokens[1],
            "total_tokens": sum(told.tokens),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _anthropic(body: dict[str, Any], told: Told) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": told.text}
    if (tool := told.tool or _tool_name(body)) and (given := _object(told.text)) is not None:
        block = {"type": "tool_use", "id": "t1", "name": tool, "input": given}
    stop = _FINISH["anthropic"][
        "tool" if block["type"] == "tool_use" and told.finish == "stop" else told.finish
    ]
    usage = dict(zip(("input_tokens", "output_tokens"), told.tokens, strict=True))
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": [*([{"type": "text", "text": told.content}] if told.content else []), block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def _ollama(body: dict[str, Any], told: Told) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": told.text}
    if (tool := told.tool or _tool_name(body)) and (given := _object(told.text)) is not None:
        message = {"role": "assistant", "content": told.content or ""}
        message["tool_calls"] = [{"function": {"name": tool, "arguments": given}}]
    head = {"model": body.get("model", ""), "created_at": "2026-01-01T00:00:00Z"}
    done = {
        "done": True,
        "done_reason": _FINISH["ollama"][told.finish],
        "prompt_eval_count": told.tokens[0],
        "eval_count": told.tokens[1],
    }
    return {**head, "message": message, **done}


def _tool_name(body: dict[str, Any]) -> str | None:
    tools = body.get("tools")
    return tools[0].get("function", tools[0]).get("name") if tools else None


def _ending(body: dict[str, Any], told: Told) -> str:
    return "tool" if (told.tool or _tool_name(body)) and told.finish == "stop" else told.finish


def _object(text: str) -> dict[str, Any] | None:
    """Anthropic and Ollama send a tool's input as an object: what is no JSON can only come as text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _listed(given: Any) -> list[dict[str, Any]]:
    return [{"content": given}] if isinstance(given, str) else list(given or ())


def _text(part: Any) -> str:
    if isinstance(part, list):
        return "\n".join(_text(each) for each in part)
    if isinstance(part, dict):
        return str(part.get("text") or part.get("content") or "")
    return str(part)
