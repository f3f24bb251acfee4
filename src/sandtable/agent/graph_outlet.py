"""Output of nodes through LangGraph: its streams, its UI messages, its interrupts, its messages.

Invariant: what is streamed in pieces is, put together, the message that the state keeps.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.config import get_config, get_stream_writer
from langgraph.graph.ui import push_ui_message
from langgraph.types import interrupt

from sandtable.agent.messages import WrittenMessage
from sandtable.agent.streaming import pieces


class GraphOutlet:
    def send(self, event: dict[str, Any]) -> None:
        get_stream_writer()(event)

    async def stream_text(self, message_id: str, content: str) -> None:
        if _messages_wanted():
            async for _ in EchoModel(message_id=message_id).astream(content):
                pass

    def show(self, component: str, props: dict[str, Any], *, id: str, message_id: str, merge: bool) -> None:
        link: AnyMessage = AIMessage(content="", id=message_id)
        push_ui_message(component, props, id=id, message=link, merge=merge)

    def ask(self, request: dict[str, Any]) -> Any:
        return interrupt(request)


def langchain_message(written: WrittenMessage) -> AnyMessage:
    about: dict[str, Any] = {"id": written.id, "additional_kwargs": written.additional_kwargs}
    match written.type:
        case "human":
            return HumanMessage(content=written.content, **about)
        case "ai":
            calls = [{"name": call.name, "args": call.args, "id": call.id} for call in written.tool_calls]
            return AIMessage(content=written.content, tool_calls=calls, **about)
        case "tool":
            return ToolMessage(
                written.content,
                tool_call_id=written.tool_call_id,
                name=written.name,
                status="error" if written.failed else "success",
                **about,
            )


def _messages_wanted() -> bool:
    """Whether a client receives message chunks, and not only our own events."""
    callbacks = get_config().get("callbacks")
    return bool(getattr(callbacks, "handlers", callbacks))


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
