"""The request and response models of `POST /v2/query`: the source of its OpenAPI description."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandtable.conversations.text import ASKED_SCHEMA

MOST_EARLIER = 200
LONGEST_EARLIER = 64 << 10


class Earlier(BaseModel):
    """One message of a conversation held outside this server."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    role: Literal["user", "human", "assistant", "ai"]
    content: str = Field(max_length=LONGEST_EARLIER)

    @property
    def asks(self) -> bool:
        return self.role in ("user", "human")


class QueryBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    session_id: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        description="The session to go on with; a new one when left out or null.",
    )
    dataset_name: str = Field(
        min_length=1,
        max_length=255,
        description="What it is about: the id of a dataset, or the name of a file in one, such as `orders.csv`.",
    )
    query: str = Field(description="The question, in plain language.", json_schema_extra=ASKED_SCHEMA)
    plan: dict[str, Any] | None = Field(
        None,
        description="A plan to run as the answer to `query`, such as that of a choice in a `reading` message; nothing "
        "is proposed then. It is checked like any plan.",
    )
    conversation_history: list[Earlier] | None = Field(
        None,
        max_length=MOST_EARLIER,
        description="What was said before, oldest first. Context for the chat model of a new session; a session "
        "that was asked something before remembers for itself.",
    )


class QueryAnswer(BaseModel):
    model_config = ConfigDict(frozen=True)

    session_id: str
    websocket_url: str = Field(description="Where the messages that lead to the answer are streamed.")
