"""The events of a turn, as one union, and the form in which a journal stores them.

Invariant: nothing here depends on a protocol. Each adapter encodes these events, or their entries, itself.

| kind | event | data |
|---|---|---|
| `begun` | `TurnBegun` | `{"attempt": 1}` |
| `event` | an `agent.events.Event` | itself |
| `ui` | `UiChanged` | the change |
| `text` | `TextPiece` | `[message, metadata]` |
| `step` | `StepDone` | the changes of each node |
| `state` | `StateReached` | as `turn_start` writes it |
| `decision` | `DecisionsAwaited` | `[{"id": …, "value": …}]` |
| `failed` | `TurnFailed` | itself |
"""

from __future__ import annotations

import json
import re
from typing import Any

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from sandtable.agent.earlier_answers import present_ui
from sandtable.agent.events import EVENT, Event
from sandtable.agent.turn_events import (
    DecisionRequest,
    DecisionsAwaited,
    StateReached,
    StepDone,
    StreamEvent,
    TextPiece,
    UiChanged,
)
from sandtable.conversations.json_text import encode
from sandtable.conversations.model import EntryKind, JournalEntry
from sandtable.conversations.turn_start import TurnStart
from sandtable.errors import ErrorCode, Problem, SandtableError

log = structlog.get_logger("sandtable.conversations")


class _TurnEvent(BaseModel):
    model_config = ConfigDict(frozen=True)


class TurnBegun(_TurnEvent):
    attempt: int = 1
    """Above 1: another server worked on the turn, and died."""


class TurnFailed(_TurnEvent):
    """The turn ended without its answer."""

    error: str
    """A name for programs: an error code, `UserInterrupt`, `ServerStopped` or `InternalServerError`."""
    message: str
    problem: Problem | None = None

    @property
    def stored(self) -> dict[str, str]:
        """As the store keeps it with the turn and its thread."""
        return {"error": self.error, "message": self.message}


TurnEvent = StreamEvent | TurnBegun | TurnFailed

CANCELLED = TurnFailed(
    error="UserInterrupt",
    message="the answer was cancelled",
    problem=Problem(
        code=ErrorCode.CANCELLED,
        message="the answer was cancelled before it was complete",
        suggestion="Ask again.",
    ),
)
SERVER_STOPPED = TurnFailed(
    error="ServerStopped",
    message="the server stopped while it was working on this; ask again to go on",
    problem=Problem(
        code=ErrorCode.SANDBOX_UNAVAILABLE,
        message="the server stopped before the answer was complete",
        suggestion="Ask again to go on.",
    ),
)


def failed_with(error: SandtableError) -> TurnFailed:
    return TurnFailed(error=str(error.code), message=error.problem.in_words, problem=error.problem)


def written(event: TurnEvent, start: TurnStart) -> tuple[EntryKind, str]:
    """An event in the form that a journal stores."""
    match event:
        case TurnBegun():
            return "begun", encode(event)
        case TurnFailed():
            return "failed", encode(event)
        case UiChanged(change=change):
            return "ui", encode(change)
        case TextPiece(message=message, metadata=metadata):
            return "text", encode([message, metadata])
        case StepDone(changes=changes):
            return "step", encode(changes)
        case StateReached():
            return "state", start.short(event)
        case DecisionsAwaited(requests=requests):
            return "decision", encode(requests)
        case _:
            return "event", encode(event)


def read(entry: JournalEntry) -> Event | TurnBegun | DecisionsAwaited | TurnFailed | None:
    """The event of an entry. None for `ui`, `text`, `step` and `state`, which only a client that follows the graph
    itself shows, and for what another version of the server wrote."""
    try:
        match entry.kind:
            case "event":
                return EVENT.validate_json(entry.data)
            case "begun":
                return TurnBegun.model_validate_json(entry.data)
            case "failed":
                return TurnFailed.model_validate_json(entry.data)
            case "decision":
                return DecisionsAwaited(requests_of(json.loads(entry.data)))
            case _:
                return None
    except ValidationError as error:
        log.warning("event_not_read", kind=entry.kind, problems=error.error_count())
        return None


_TEXT = r'"(?:[^"\\]|\\.)*"'
_UNDESCRIBED = re.compile(rf'"columns":\[\{{"name":{_TEXT},"type":{_TEXT}\}}')
"""The first column of a table as versions wrote it that gave columns no kind."""


def present_data(entry: JournalEntry) -> str:
    """The data of an `event` or `ui` entry in the present form. Only tables of earlier versions are read and written
    again: a table can be large."""
    if not _UNDESCRIBED.search(entry.data):
        return entry.data
    if entry.kind == "ui":
        return encode(present_ui(json.loads(entry.data)))
    event = read(entry)
    return entry.data if event is None else encode(event)


def requests_of(plain: list[dict[str, Any]]) -> tuple[DecisionRequest, ...]:
    return tuple(DecisionRequest(one["id"], one["value"]) for one in plain)
