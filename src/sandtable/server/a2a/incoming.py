"""What a client's message says: a question, what it is about, and how it answers what was asked back.

Invariant: only a person's text, a chosen plan and a decision reach the conversation. Parts that cannot be used are
refused, never left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from a2a.types import Message, Role
from a2a.utils.errors import ContentTypeNotSupportedError
from google.protobuf.json_format import MessageToDict
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandtable.agent.read_as.model import Offer
from sandtable.catalog.model import Dataset
from sandtable.conversations.text import clean, plan_of, question_of
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

INPUT_MODES = ("text/plain", "text/markdown", "application/json")
LONGEST_ID = 128
_APPROVING = frozenset(("approve", "approved", "yes", "ok", "okay"))
_REJECTING = frozenset(("reject", "rejected", "no"))


class Said(BaseModel):
    """A data part, and what a message's metadata may say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str | None = Field(None, min_length=1, max_length=LONGEST_ID)
    plan: dict[str, Any] | None = None
    choice: int | None = Field(None, ge=1)
    decision: Literal["approve", "reject"] | None = None


class Incoming(BaseModel):
    model_config = ConfigDict(frozen=True)

    message_id: str
    text: str
    said: Said


def read_message(message: Message) -> Incoming:
    """Raises InvalidInput, ContentTypeNotSupportedError."""
    if message.role != Role.ROLE_USER:
        raise InvalidInput(
            "the message's role is not `ROLE_USER`", suggestion="Send what a user says.", field="role"
        )
    texts: list[str] = []
    given: dict[str, Any] = {}
    dataset = MessageToDict(message.metadata).get("dataset")
    if dataset is not None:
        given["dataset"] = dataset
    for part in message.parts:
        kind = part.WhichOneof("content")
        if part.media_type and part.media_type.partition(";")[0].strip().lower() not in INPUT_MODES:
            raise _unsupported(part.media_type)
        if kind == "text":
            texts.append(part.text)
        elif kind == "data":
            given |= _fields(MessageToDict(part).get("data"))
        elif kind is not None:
            raise _unsupported(f"a `{kind}` part")
    return Incoming(
        message_id=clean(message.message_id[:LONGEST_ID]), text="\n\n".join(texts).strip(), said=_said(given)
    )


def _unsupported(what: str) -> ContentTypeNotSupportedError:
    return ContentTypeNotSupportedError(
        f"{what[:100]} cannot be read here; send text, or a data part with dataset, plan, choice or decision"
    )


def _fields(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise InvalidInput(
            "a data part is not an object",
            suggestion=f"Its fields are: {', '.join(Said.model_fields)}.",
            field="parts.data",
        )
    return data


def _said(given: Mapping[str, Any]) -> Said:
    try:
        # Numbers of a data part are doubles.
        return Said.model_validate(given)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise InvalidInput(
            f"{quote(where)} in the message's data: {error.errors()[0]['msg']}",
            suggestion=f"The fields are: {', '.join(Said.model_fields)}.",
            field=f"parts.data.{where}",
        ) from error


def question_in(incoming: Incoming) -> tuple[str, dict[str, Any] | None]:
    """The question and the plan that runs as its answer. Raises InvalidInput."""
    plan = plan_of(incoming.said.plan)
    text = incoming.text or ("Run this plan" if plan is not None else "")
    return question_of(text, "message.parts"), plan


def choice_in(incoming: Incoming, offers: Sequence[Offer]) -> Offer | None:
    """The offer that the message takes: by its number, its label or its message. Raises InvalidInput."""
    text = incoming.text.strip()
    number = incoming.said.choice
    if number is None and re.fullmatch(r"[1-9][0-9]?", text):
        number = int(text)
    if number is not None and offers:
        if number > len(offers):
            raise InvalidInput(
                f"there is no choice {number}",
                suggestion=f"Choose a number from 1 to {len(offers)}.",
                field="choice",
            )
        return offers[number - 1]
    return next(
        (one for one in offers if text and text.casefold() in (one.label.casefold(), one.message.casefold())),
        None,
    )


def decision_in(incoming: Incoming) -> dict[str, Any] | None:
    """A person's decision on what waits for one; None for another message."""
    word = incoming.said.decision or incoming.text.strip().strip(".!").casefold()
    if word in _APPROVING:
        return {"decisions": [{"type": "approve"}]}
    if word in _REJECTING:
        return {"decisions": [{"type": "reject"}]}
    return None


def about_dataset(incoming: Incoming, datasets: Sequence[Dataset]) -> Incoming:
    """With the dataset that its text begins with, as in `support: how many tickets are there?`; or the only one."""
    if incoming.said.dataset is not None:
        return incoming
    begun = re.match(r"\s*([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})\s*:\s+(?=\S)", incoming.text)
    named = [dataset.id for dataset in datasets if begun and dataset.id.casefold() == begun[1].casefold()]
    if begun and named:
        return _with_dataset(incoming, named[0], incoming.text[begun.end() :])
    return _with_dataset(incoming, datasets[0].id, incoming.text) if len(datasets) == 1 else incoming


def _with_dataset(incoming: Incoming, dataset: str, text: str) -> Incoming:
    said = incoming.said.model_copy(update={"dataset": dataset})
    return incoming.model_copy(update={"said": said, "text": text})
