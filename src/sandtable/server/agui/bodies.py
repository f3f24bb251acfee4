"""`RunAgentInput`, as far as it is read. What this server does not know of it is ignored, as the protocol asks.

Invariant: of a client's input, only user messages, a chosen plan and decisions reach the graph. The state, the tools
and the context that a client sends are not read.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from sandtable.conversations.text import clean
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

LONGEST_ID = 128
MOST_RESUMED = 16


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


def usable_id(given: str, field: str) -> str:
    """Raises InvalidInput for an id that cannot be stored and shown as it is."""
    if not 0 < len(given) <= LONGEST_ID or not given.isprintable() or clean(given) != given:
        raise InvalidInput(
            f"`{field}` {quote(given)} cannot be used as an id",
            suggestion=f"Send 1 to {LONGEST_ID} printable characters, such as a UUID.",
            field=field,
        )
    return given


class GivenMessage(_Body):
    """One message of the conversation as the client has it."""

    id: str
    role: Literal["developer", "system", "assistant", "user", "tool", "activity", "reasoning"]
    content: Any = None

    @property
    def text(self) -> str:
        """Its text; what else a message may hold, such as an image, is left out."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))


class ResumeEntry(_Body):
    """The answer to one interrupt."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class RunInput(_Body):
    thread_id: str
    run_id: str
    protocol_version: str | None = None
    parent_run_id: str | None = None
    state: Any = None
    messages: tuple[GivenMessage, ...]
    forwarded_props: Any = None
    resume: tuple[ResumeEntry, ...] | None = Field(None, max_length=MOST_RESUMED)

    @field_validator("thread_id", "run_id", "parent_run_id")
    @classmethod
    def _usable(cls, given: str | None, info: Any) -> str | None:
        return None if given is None else usable_id(given, to_camel(info.field_name))

    @property
    def question(self) -> GivenMessage | None:
        """The message that may be asked: the last one, if a user wrote it."""
        told = [one for one in self.messages if one.role not in ("activity", "reasoning")]
        return told[-1] if told and told[-1].role == "user" else None

    @property
    def before(self) -> list[tuple[bool, str]]:
        """What was said before: whether the user said it, and the text."""
        told = [one for one in self.messages if one.role in ("user", "assistant")]
        return [(one.role == "user", one.text) for one in told]

    def forwarded(self, name: str) -> Any:
        return self.forwarded_props.get(name) if isinstance(self.forwarded_props, dict) else None
