"""Where runs and capsules are kept: the seam, small enough for another database.

Invariants every store holds (`tests/store/conformance.py`):
- a run that `accept` returned for is on disk;
- a run gets one terminal status and one capsule, in one transaction (`finish`), and neither
  changes afterwards;
- an unfinished run belongs to one owner, and ends under its name only: who has lost a run to another cannot end it;
- an owner's cells of one session are claimed one at a time, in the order in which they were accepted.
Who may claim a pending run depends on where it is kept: in a store of one home (SQLite) its owner alone; in one that
servers share (`shared`, Postgres) any of them, which thereby becomes its owner, unless it is pinned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sandtable.capsule.model import Ended
from sandtable.errors import RunnerBroken, SandboxUnavailable
from sandtable.store.holdings import Holdings

Status = Literal["pending", "running", "succeeded", "failed", "rejected", "cancelled"]
TERMINAL: frozenset[Status] = frozenset(("succeeded", "failed", "rejected", "cancelled"))


class StoreUnavailable(RunnerBroken):
    """The store cannot be used now: locked, unreadable, out of space. Trying later may help."""


class StoreFull(StoreUnavailable):
    """No space is left."""


class StoreCorrupt(RunnerBroken):
    """The stored bytes are damaged: only a person can help."""


class QueueFull(SandboxUnavailable):
    """As many runs wait as may wait."""


class HolderGone(RunnerBroken):
    """The run that holds the result was removed meanwhile: end this one with a result of its own."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    id: str
    """Sortable by time of acceptance."""
    owner: str
    user: str
    dataset_id: str
    created_at: str
    body: dict[str, Any]
    """What the layer above keeps about a run; not looked into here."""
    search: str = ""
    status: Status = "pending"
    started_at: str | None = None
    attempts: int = 0
    """How often it was claimed."""
    cancel_requested: bool = False
    result: dict[str, Any] | None = None
    """Columns and rows; left out of lists."""
    pinned: bool = False
    """What it needs is with its owner: nobody else may claim it, in a store that servers share."""
    session: str | None = None
    """The session whose cell it is. Of a run that has ended: only if the session lives on with what it did."""


@dataclass(frozen=True, slots=True)
class Fairness:
    """What a claim must hold to."""

    each: int = 1 << 30
    """Runs of one user that may be running with the same owner: a user who has so many waits for them to end."""
    lately: Sequence[str] = ()
    """Users whose runs were claimed, the latest last: of users with equally many running, they come after others."""
    cells: bool = True
    """Whether a session's cell may be claimed."""


ANY_ORDER = Fairness()


@dataclass(frozen=True, slots=True)
class Ending:
    """All that is written when a run ends."""

    id: str
    owner: str
    expected: Literal["pending", "running"]
    status: Ended
    finished_at: str
    body: dict[str, Any]
    envelope: dict[str, Any]
    result: dict[str, Any] | None = None
    result_of: str | None = None
    """The earlier run that holds the result, when this one was answered from it."""
    cache_key: str | None = None
    """Under which later runs may find this result."""
    session: str | None = None
    """The session that lives on with what this run did in it."""


@dataclass(frozen=True, slots=True)
class RunFilter:
    status: Status | None = None
    dataset_id: str | None = None
    user: str | None = None
    text: str | None = None
    before: str | None = None
    """Only runs older than the run with this id."""
    limit: int = field(default=50)
    session: str | None = None
    """Only runs that ended as cells of this session."""


@dataclass(frozen=True, slots=True)
class RunNews:
    """What some server did, this one or another; `missed` means that anything may have happened."""

    kind: Literal["work", "ended", "cancel", "missed"]
    run_id: str | None = None
    owner: str | None = None
    """Of new work: who accepted it."""


def queue_full(waiting: int) -> QueueFull:
    return QueueFull(
        f"{waiting} runs are waiting, which is as many as may wait",
        suggestion="Try again when some have finished, or raise SANDTABLE_QUEUE_LIMIT.",
    )


def over_share(user: str, has: str) -> QueueFull:
    """`has` is such as `3 runs waiting`."""
    return QueueFull(
        f"the user {user} has {has}, which is as many as one user may have",
        suggestion="Wait for some of them to end, or cancel some; SANDTABLE_USER_SHARE is how much one user may have.",
    )


class RunStore(Protocol):
    @property
    def shared(self) -> bool:
        """Whether several servers work on it, each claims what any of them accepted, and `subscribe` tells."""
        ...

    @property
    def holdings(self) -> Holdings:
        """What it holds, and how that leaves it."""
        ...

    def subscribe(self, tell: Callable[[RunNews], None]) -> None:
        """`tell` is called when it happens. A store that is not shared never calls it: look again and again."""
        ...

    async def open(self) -> None:
        """Ready for use, with its schema up to date. Raises StoreCorrupt, StoreUnavailable."""
        ...

    async def aclose(self) -> None: ...

    async def probe(self) -> None:
        """Reads and writes, and changes nothing. Raises StoreCorrupt, StoreUnavailable."""
        ...

    async def accept(self, record: RunRecord, queue_limit: int, user_limit: int | None = None) -> None:
        """Store a pending run durably. Raises QueueFull when `queue_limit` runs are pending, or `user_limit` of its
        user."""
        ...

    async def claim(
        self, owner: str, started_at: str, fair: Fairness = ANY_ORDER, *, anyones: bool = False
    ) -> RunRecord | None:
        """Make one pending run of `owner` running: of the user with the fewest running, the oldest that may run.

        `anyones` also takes what others accepted and did not pin, where the store is shared; it is `owner`'s then.
        """
        ...

    async def finish(self, ending: Ending) -> bool:
        """Terminal status and capsule at once. False when the run is no longer as `expected`. Raises HolderGone."""
        ...

    async def release(self, owner: str) -> int:
        """Running runs of `owner` are pending again."""
        ...

    async def adopt(self, dead: str, owner: str, run_id: str | None = None) -> int:
        """Unfinished runs of `dead` (or one of them) are pending again, and belong to `owner`."""
        ...

    async def owners(self) -> list[str]:
        """Who has unfinished runs."""
        ...

    async def request_cancel(self, run_id: str) -> None: ...

    async def cancel_requests(self, owner: str) -> list[str]:
        """Unfinished runs of `owner` that somebody asked to cancel."""
        ...

    async def get(self, run_id: str) -> RunRecord | None: ...

    async def list(self, wanted: RunFilter) -> list[RunRecord]:
        """Newest first, without results."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many runs have each status."""
        ...

    async def cached(self, cache_key: str) -> RunRecord | None:
        """The newest succeeded run that was stored under this key, with its result."""
        ...

    async def capsule(self, run_id: str) -> dict[str, Any] | None: ...
