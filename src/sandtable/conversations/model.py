"""Threads, their turns and the entries of a turn's journal, as every store keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sandtable.errors import InvalidInput

ThreadStatus = Literal["idle", "busy", "interrupted", "error"]
"""`interrupted` waits for a person's decision; `error` means that the last turn failed. Both can go on."""

TurnStatus = Literal["pending", "running", "success", "error", "interrupted"]
"""`interrupted` ended before its answer: cancelled, or waiting for a person's decision."""

UNDER_WAY: tuple[TurnStatus, ...] = ("pending", "running")


class ThreadBusy(InvalidInput):
    """Another turn of the same thread is under way, and the caller does not want to wait for it."""


@dataclass(frozen=True, slots=True)
class Thread:
    id: str
    user: str
    created_at: str
    updated_at: str
    status: ThreadStatus = "idle"
    dataset_id: str | None = None
    """None before the first turn."""
    metadata: dict[str, Any] = field(default_factory=dict)
    opening: str | None = None
    """The first thing that was asked, for lists."""
    title: str | None = None
    """What the first answer computed; empty when no plan says it, None before the first answer."""
    error: dict[str, Any] | None = None
    """Why the last turn failed."""


@dataclass(frozen=True, slots=True)
class TurnRecord:
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


EntryKind = Literal["begun", "event", "ui", "text", "step", "state", "decision", "failed"]
"""`turn_events` says what each kind holds."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One event of a turn, as its journal keeps it; `number` counts from 1."""

    number: int
    kind: EntryKind | str
    """Another version of the server may have written other kinds: a reader passes over what it does not know."""
    data: str
    """JSON."""


@dataclass(frozen=True, slots=True)
class OrphanedTurn:
    """A turn that a dead server left under way."""

    turn: TurnRecord
    order: str
    """The turn's order, as the server that accepted it stored it."""
    last: int
    """The number of its last entry in the store."""
    begun: int
    """How often it was begun."""


SortBy = Literal["thread_id", "status", "created_at", "updated_at"]


@dataclass(frozen=True, slots=True)
class OwnThreads:
    """The threads that one user may see."""

    user: str
    shared: tuple[tuple[str, str], ...] = ()
    """Further threads, each with its user."""


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
    seen: OwnThreads | None = None
    """Only these; None for all."""


def now() -> str:
    """Sortable as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def just_after(moment: str) -> str:
    """The next moment that `now` can say."""
    return (datetime.fromisoformat(moment) + timedelta(microseconds=1)).isoformat(timespec="microseconds")
