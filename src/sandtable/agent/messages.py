"""Messages of a thread as nodes read and write them, without LangChain, which takes long to load.

`agent.graph` turns what a node wrote into LangChain's messages, which the state of a thread keeps; a node reads both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


class Message(Protocol):
    """What a node reads of a message, ours or LangChain's."""

    @property
    def type(self) -> str: ...

    @property
    def id(self) -> str | None: ...

    @property
    def content(self) -> str | list[Any]: ...

    @property
    def additional_kwargs(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    args: dict[str, Any]
    id: str


@dataclass(frozen=True, slots=True)
class WrittenMessage:
    """What a person, the assistant (`ai`) or a tool says."""

    type: Literal["human", "ai", "tool"]
    content: str
    id: str | None = None
    additional_kwargs: dict[str, Any] = field(default_factory=dict)
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    """Of a tool's message: the call that it answers."""
    name: str | None = None
    failed: bool = False
