"""Output of nodes: events for our own protocols, and text as message chunks for clients of LangGraph's.

Invariant: what is streamed in pieces is, put together, the message that the state keeps.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterator
from contextvars import Context
from typing import Any, TypeVar
from uuid import uuid4

from sandtable.agent.events import Delta, Event
from sandtable.agent.messages import WrittenMessage
from sandtable.agent.outlet import outlet
from sandtable.observing import Tracer

T = TypeVar("T")

PIECE = 160
MOST_PIECES = 40
"""A long text comes in longer pieces, not in more of them: each one is an event on every wire."""
_CODE_OR_DOLLAR = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\$", re.DOTALL)


def emit(event: Event) -> None:
    outlet().send(event.model_dump(mode="json"))


async def outside_stream(work: Coroutine[Any, Any, T], tracer: Tracer) -> T:
    """Runs a proposer outside the graph's context: a chat model's raw reply must not be streamed as a message. It stays
    in the trace of the question."""
    try:
        return await asyncio.create_task(_under(tracer.link, work, tracer), context=Context())
    finally:
        # Never begun when the task was cancelled before its first step.
        work.close()


async def _under(link: str, work: Coroutine[Any, Any, T], tracer: Tracer) -> T:
    with tracer.under(link):
        return await work


def new_id() -> str:
    return str(uuid4())


async def stream_message(text: str, about: dict[str, Any], markdown: str | None = None) -> WrittenMessage:
    """Streams `text` in pieces; the resulting message carries `about` for readers of the state.

    `markdown` is the same for clients that know messages only; `about` then has the text with its tags.
    """
    message_id = new_id()
    content = _without_math(text if markdown is None else markdown)
    await outlet().stream_text(message_id, content)
    for piece in pieces(text):
        emit(Delta(text=piece))
    told = about if content == text else {**about, "text": text}
    return WrittenMessage("ai", content, message_id, {"sandtable": told})


def _without_math(markdown: str) -> str:
    """Escapes dollar signs: the stock chat renders text between two of them as a formula."""
    return _CODE_OR_DOLLAR.sub(lambda found: "\\$" if found[0] == "$" else found[0], markdown)


def pieces(text: str) -> Iterator[str]:
    """Whole words of about PIECE characters; nothing is lost or added."""
    length = max(PIECE, len(text) // MOST_PIECES)
    piece = ""
    for word in re.findall(r"\s*\S+|\s+$", text):
        piece += word
        if len(piece) >= length:
            yield piece
            piece = ""
    if piece:
        yield piece
