"""A conversation (thread) and what happens in it (turns), as every store keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from sandtable.errors import InvalidInput

ThreadStatus = Literal["idle", "busy", "interrupted", "error"]
"""`interrupted` waits for a person's word; `error` means that the last turn broke. Both can go on."""

TurnStatus = Literal["pending", "running", "success", "error", "interrupted"]
"""`interrupted` ended before its answer: cancelled, or waiting for a person's word."""

UNDER_WAY: tuple[TurnStatus, ...] = ("pending", "running")


class ThreadBusy(InvalidInput):
    """Another turn of the same thread is under way, and the caller would not wait."""


@dataclass(frozen=True, slots=True)
class Thread:
    id: str
    user: str
    created_at: str
    updated_at: str
    status: ThreadStatus = "idle"
    dataset_id: str | None = None
    """What it is about; nothing before the first turn."""
    metadata: dict[str, Any] = field(default_factory=dict)
    opening: str | None = None
    """The first thing that was asked, for lists."""
    title: str | None = None
    """What the first answer computed; empty when that cannot be said, nothing before there is an answer."""
    error: dict[str, Any] | None = None
    """Why the last turn broke."""


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    thread_id: str
    dataset_id: str
    created_at: str
    updated_at: str
    status: TurnStatus = "pending"
    strategy: str = "enqueue"
    metadata: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None

    @property
    def under_way(self) -> bool:
        return self.status in UNDER_WAY


@dataclass(frozen=True, slots=True)
class TurnEnd:
    status: TurnStatus
    thread_status: ThreadStatus
    error: dict[str, Any] | None = None
    title: str | None = None
    """What the thread's first answer computed (`Thread.title`). A thread that has one keeps it."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One event of a turn, as it goes over the wire; `number` counts from 1."""

    number: int
    name: str
    data: str


@dataclass(frozen=True, slots=True)
class Left:
    """A turn that a dead server left under way."""

    turn: Turn
    order: str
    """What it is to do, as whoever accepted it wrote it down."""
    last: int
    """The number of its last event in the store."""
    begun: int
    """How often it was begun."""


SortBy = Literal["thread_id", "status", "created_at", "updated_at"]


@dataclass(frozen=True, slots=True)
class ThreadFilter:
    metadata: dict[str, Any] = field(default_factory=dict)
    """Every entry must be equal."""
    ids: tuple[str, ...] | None = None
    status: ThreadStatus | None = None
    sort_by: SortBy = "updated_at"
    descending: bool = True
    limit: int = 10
    offset: int = 0


def now() -> str:
    """Sortable as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
