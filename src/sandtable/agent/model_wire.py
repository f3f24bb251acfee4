"""Parses the HTTP replies of providers: the formats of OpenAI (both of them), Anthropic and Ollama.

Invariant: nothing that an endpoint sends raises. Of a reply only its text, the first tool that it calls, its ending
and its costs are taken; all of them are bounded, and no secret of the request is in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from sandtable.agent.model_http import HttpReply, HttpRequest
from sandtable.agent.model_reply import ModelReply, parsed
from sandtable.agent.model_trouble import Fault, scrubbed, without_secrets

LONGEST_TEXT = 256 << 10
LONGEST_TOOL_NAME = 64
MOST_TOKENS = 10_000_000
SHORTEST_CUT = 12
"""Characters of a secret that is cut out of a reply: a shorter one may be a word that the reply needs."""
_MOST_BLOCKS = 64
_LONGEST_WAIT_S = 86_400
_LENGTH_ENDINGS = {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"}
_FILTER_ENDINGS = {"content_filter", "refusal"}
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}", re.ASCII)


def said_in(request: HttpRequest, reply: HttpReply, secrets: Iterable[str]) -> ModelReply | Fault:
    hidden = {*secrets, *(text for text in request.secrets if len(text) >= SHORTEST_CUT)}
    if 300 <= reply.status < 400:
        return Fault("redirected", reply.status, scrubbed(_target(reply.location), hidden))
    if reply.status >= 400:
        return _refused(reply.status, _found(reply.body), reply, hidden)
    found = _found(reply.body)
    read = next((read for end, read in _READERS.items() if request.path.endswith(end)), None)
    if not isinstance(found, dict) or read is None:
        return Fault("unreadable")
    if found.get("error"):
        # Some gateways answer 200 whatever happened behind them.
        return _refused(_status(found["error"]), found, reply, hidden)
    said = read(found)
    if said is None:
        return Fault("unreadable")
    cut = [secret for secret in hidden if len(secret) >= SHORTEST_CUT]
    return replace(
        said,
        text=without_secrets(said.text, cut),
        tool=without_secrets(said.tool, cut),
        arguments=without_secrets(said.arguments, cut),
    )


def _found(body: bytes) -> Any:
    try:
        return parsed(body.decode("utf-8-sig"))
    except ValueError:
        return None


def _refused(status: int, found: Any, reply: HttpReply, hidden: Iterable[str]) -> Fault:
    error = found.get("error", found) if isinstance(found, dict) else found
    fields = error if isinstance(error, dict) else {}
    words = [error, fields.get("message"), fields.get("detail")]
    said = next((text for text in words if isinstance(text, str)), "")
    marks = [text for name in ("type", "code") if isinstance(text := fields.get(name), str)]
    if not said and not reply.body.lstrip().startswith((b"<", b"{", b"[")):
        said = reply.body[:1_000].decode("utf-8", "replace")
    wait = float(reply.retry_after) if _SECONDS.fullmatch(reply.retry_after) else None
    return Fault(
        "status",
        status,
        scrubbed(said, hidden),
        scrubbed(" ".join(marks), hidden),
        None if wait is None else min(wait, _LONGEST_WAIT_S),
    )


def _status(error: Any) -> int:
    codes = [error.get(name) for name in ("code", "status")] if isinstance(error, dict) else []
    return next((code for code in codes if type(code) is int and 400 <= code <= 599), 502)


def _target(location: str) -> str:
    """Scheme and host alone: the rest may be anything."""
    try:
        parts = urlsplit(location)
        host = parts.hostname or ""
    except ValueError:
        return ""
    known = parts.scheme in {"http", "https"} and _HOST.fullmatch(host)
    return f"{parts.scheme}://{host}" if known else ""


def _read_completion(found: dict[str, Any]) -> ModelReply | None:
    choice = next(_objects(found.get("choices")), {})
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    calls = _functions(message.get("tool_calls"))
    declined = bool(_text(message.get("refusal")))
    tokens = _usage(found, "prompt", "completion")
    return _said(calls, _text(message.get("content")), choice.get("finish_reason"), declined, tokens)


def _read_response(found: dict[str, Any]) -> ModelReply | None:
    if not isinstance(found.get("output"), list):
        return None
    items = list(_objects(found["output"]))
    blocks = [
        block for item in items if item.get("type") == "message" for block in _objects(item.get("content"))
    ]
    calls = [
        (item.get("name"), item.get("arguments")) for item in items if item.get("type") == "function_call"
    ]
    text = _text([block for block in blocks if block.get("type") == "output_text"])
    details = found.get("incomplete_details")
    ending = details.get("reason") if isinstance(details, dict) else None
    declined = any(block.get("type") == "refusal" for block in blocks)
    return _said(calls, text, ending, declined, _usage(found, "input", "output"))


def _read_message(found: dict[str, Any]) -> ModelReply | None:
    if not isinstance(found.get("content"), list):
        return None
    blocks = list(_objects(found["content"]))
    calls = [(block.get("name"), block.get("input")) for block in blocks if block.get("type") == "tool_use"]
    text = _text([block for block in blocks if block.get("type") == "text"])
    return _said(calls, text, found.get("stop_reason"), False, _usage(found, "input", "output"))


def _read_ollama(found: dict[str, Any]) -> ModelReply | None:
    message = found.get("message")
    if not isinstance(message, dict):
        return None
    calls = _functions(message.get("tool_calls"))
    tokens = _tokens(found.get("prompt_eval_count")), _tokens(found.get("eval_count"))
    return _said(calls, _text(message.get("content")), found.get("done_reason"), False, tokens)


_READERS: dict[str, Callable[[dict[str, Any]], ModelReply | None]] = {
    "/chat/completions": _read_completion,
    "/responses": _read_response,
    "/messages": _read_message,
    "/api/chat": _read_ollama,
}


_Call = tuple[Any, Any]
"""Name and arguments."""


def _functions(given: Any) -> list[_Call]:
    calls = (call.get("function") for call in _objects(given))
    return [(call.get("name"), call.get("arguments")) for call in calls if isinstance(call, dict)]


def _said(
    calls: list[_Call], content: str, ending: Any, declined: bool, tokens: tuple[int, int]
) -> ModelReply:
    known = ending if isinstance(ending, str) else ""
    text = _first(given for _, given in calls) or content
    tool, given = next(((name, given) for name, given in calls if name and isinstance(name, str)), ("", ""))
    return ModelReply(
        text=text[:LONGEST_TEXT],
        tool=tool[:LONGEST_TOOL_NAME],
        arguments=(_first([given]) or "{}")[:LONGEST_TEXT] if tool else "",
        cut_off=len(text) > LONGEST_TEXT or known in _LENGTH_ENDINGS,
        filtered=declined or known in _FILTER_ENDINGS,
        tokens_in=tokens[0],
        tokens_out=tokens[1],
    )


def _usage(found: dict[str, Any], before: str, after: str) -> tuple[int, int]:
    usage = found.get("usage")
    if not isinstance(usage, dict):
        return 0, 0
    return _tokens(usage.get(f"{before}_tokens")), _tokens(usage.get(f"{after}_tokens"))


def _tokens(given: Any) -> int:
    """A count as it may be summed and kept; zero for what is none."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return 0
    return int(max(0, min(given, MOST_TOKENS)))


def _objects(given: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list, the first few of them."""
    listed = given if isinstance(given, list) else []
    return (one for one in islice(listed, _MOST_BLOCKS) if isinstance(one, dict))


def _first(given: Iterable[Any]) -> str:
    """The arguments of the first call of a tool as JSON, which some wires write as text and some as an object."""
    for one in given:
        if isinstance(one, str) and one.strip():
            return one
        if isinstance(one, dict) and one:
            return json.dumps(one, ensure_ascii=False)
    return ""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in _objects(content))
    return "".join(text for text in texts if isinstance(text, str))
