"""Output of nodes: events for our own protocols, and text as message chunks for LangGraph's.

Invariant: what is streamed in pieces is, put together, the message that the state keeps.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextvars import Context
from typing import Any, TypeVar
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.config import get_config, get_stream_writer

from sandtable.agent.events import Delta, Event

T = TypeVar("T")

PIECE = 160
MOST_PIECES = 40
"""A long text comes in longer pieces, not in more of them: each one is an event on every wire."""
_CODE_OR_DOLLAR = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\$", re.DOTALL)


def emit(event: Event) -> None:
    get_stream_writer()(event.model_dump(mode="json"))


async def outside_stream(work: Coroutine[Any, Any, T]) -> T:
    """Runs a proposer outside LangGraph's context: a chat model's raw reply must not be streamed as a message."""
    return await asyncio.create_task(work, context=Context())


def new_id() -> str:
    return str(uuid4())


async def stream_message(text: str, about: dict[str, Any], markdown: str | None = None) -> AIMessage:
    """Streams `text` in pieces; the resulting message carries `about` for readers of the state.

    `markdown` is the same for clients that know messages only; `about` then has the text with its tags.
    """
    message_id = new_id()
    content = _without_math(text if markdown is None else markdown)
    if _messages_wanted():
        async for _ in EchoModel(message_id=message_id).astream(content):
            pass
    for piece in pieces(text):
        emit(Delta(text=piece))
    told = about if content == text else {**about, "text": text}
    return AIMessage(content=content, id=message_id, additional_kwargs={"sandtable": told})


def _without_math(markdown: str) -> str:
    """Escapes dollar signs: the stock chat renders text between two of them as a formula."""
    return _CODE_OR_DOLLAR.sub(lambda found: "\\$" if found[0] == "$" else found[0], markdown)


def _messages_wanted() -> bool:
    """Whether a client receives message chunks, and not only our own events."""
    callbacks = get_config().get("callbacks")
    return bool(getattr(callbacks, "handlers", callbacks))


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


class EchoModel(BaseChatModel):
    """Repeats its input in pieces, under a fixed id. It is a chat model because LangGraph's `messages` stream
    reports only those; no model is called."""

    message_id: str

    @property
    def _llm_type(self) -> str:
        return "sandtable-echo"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = AIMessage(content=str(messages[-1].content), id=self.message_id)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        said = list(pieces(str(messages[-1].content))) or [""]
        for place, piece in enumerate(said):
            # Without the mark LangChain would add a closing chunk of its own, under another id.
            position = "last" if place == len(said) - 1 else None
            chunk = AIMessageChunk(content=piece, id=self.message_id, chunk_position=position)
            yield ChatGenerationChunk(message=chunk)
