"""The interface of a store of runs and capsules, with its records and errors. Each database implements `RunStore`.

Invariants of every store (`tests/store/conformance.py`):
- a run is on disk when `accept` returns;
- a run gets one terminal status and one capsule, in one transaction (`finish`), and neither changes afterwards;
- an unfinished run has one owner, and only that owner can finish it: a server whose run was adopted cannot;
- an owner claims the cells of a session one at a time, in the order in which they were accepted.
In a store of one home (SQLite) only its owner claims a pending run. In a store that servers share (`shared`, Postgres)
any server claims a run that is not pinned, and becomes its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sandtable.capsule.model import Ended
from sandtable.errors import QueueFull, RunnerBroken
from sandtable.store.holdings import Holdings

Status = Literal["pending", "running", "succeeded", "failed", "rejected", "cancelled"]
TERMINAL: frozenset[Status] = frozenset(("succeeded", "failed", "rejected", "cancelled"))


class StoreUnavailable(RunnerBroken):
    """The store cannot be used now: it is locked, unreadable or out of space. A later attempt may succeed."""


class StoreFull(StoreUnavailable):
    """No space is left."""


class StoreCorrupt(RunnerBroken):
    """The stored bytes are damaged: an operator must repair or restore them."""


class HolderGone(RunnerBroken):
    """The run that holds the result was removed: finish this run with its own result."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    id: str
    """Sortable by time of acceptance."""
    owner: str
    user: str
    dataset_id: str
    created_at: str
    body: dict[str, Any]
    """JSON that `runs` writes and reads; the store does not interpret it."""
    search: str = ""
    status: Status = "pending"
    started_at: str | None = None
    attempts: int = 0
    """How many times the run was claimed."""
    cancel_requested: bool = False
    result: dict[str, Any] | None = None
    """Columns and rows; `list` leaves them out."""
    pinned: bool = False
    """Only its owner may claim it, also in a shared store: what the run needs is on the owner's machine."""
    session: str | None = None
    """The session whose cell it is. For an ended run: only if the session keeps what the cell did."""


@dataclass(frozen=True, slots=True)
class Fairness:
    """The limits and the order of a claim."""

    each: int = 1 << 30
    """How many runs of one user an owner may have running. At the limit, none of that user's runs is claimed."""
    lately: Sequence[str] = ()
    """Users whose runs were claimed, the latest last: among users with equally many running, they come last."""
    cells: bool = True
    """Whether a session's cell may be claimed."""


ANY_ORDER = Fairness()


@dataclass(frozen=True, slots=True)
class Ending:
    """Everything that `finish` writes."""

    id: str
    owner: str
    expected: Literal["pending", "running"]
    status: Ended
    finished_at: str
    body: dict[str, Any]
    envelope: dict[str, Any]
    result: dict[str, Any] | None = None
    result_of: str | None = None
    """The earlier run that holds the result, if this run was answered from it."""
    cache_key: str | None = None
    """The key by which later runs find this result."""
    session: str | None = None
    """The session that keeps what this run did in it."""


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """The runs that one user may see."""

    user: str
    shared: Sequence[tuple[str, str]] = ()
    """Further runs, each with the user who asked for it."""


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
    seen: OwnRuns | None = None
    """Only these; None for all."""


@dataclass(frozen=True, slots=True)
class RunNews:
    """An event in a shared store, from any server. `missed` means that events were lost: read the store again."""

    kind: Literal["work", "ended", "cancel", "missed"]
    run_id: str | None = None
    owner: str | None = None
    """For `work`: the server that accepted the run."""


def queue_full(waiting: int) -> QueueFull:
    return QueueFull(
        f"{waiting} runs are waiting, which is the limit",
        suggestion="Try again when some have finished, or raise SANDTABLE_QUEUE_LIMIT.",
    )


def over_share(user: str, has: str) -> QueueFull:
    """`has` is a phrase like `3 runs waiting`."""
    return QueueFull(
        f"the user {user} has {has}, which is the limit for one user",
        suggestion="Wait for some of them to end, or cancel some; SANDTABLE_USER_SHARE is how much one user may have.",
    )


class RunStore(Protocol):
    @property
    def shared(self) -> bool:
        """True if several servers use the store: each claims runs that any of them accepted, and `subscribe` works."""
        ...

    @property
    def holdings(self) -> Holdings:
        """The stored runs, and their removal."""
        ...

    def subscribe(self, tell: Callable[[RunNews], None]) -> None:
        """Call `tell` for each event. A store that is not shared never calls it: its users poll."""
        ...

    async def open(self) -> None:
        """Connect and bring the schema up to date. Raises StoreCorrupt, StoreUnavailable."""
        ...

    async def aclose(self) -> None: ...

    async def probe(self) -> None:
        """Read and write without changing anything. Raises StoreCorrupt, StoreUnavailable."""
        ...

    async def accept(self, record: RunRecord, queue_limit: int, user_limit: int | None = None) -> None:
        """Store a pending run durably. Raises QueueFull if `queue_limit` runs are pending, or `user_limit` runs of its
        user."""
        ...

    async def claim(
        self, owner: str, started_at: str, fair: Fairness = ANY_ORDER, *, anyones: bool = False
    ) -> RunRecord | None:
        """Start one pending run of `owner`: the oldest that may run, of the user with the fewest running.

        With `anyones`, a shared store also takes a run that another server accepted and did not pin; `owner` becomes
        its owner.
        """
        ...

    async def finish(self, ending: Ending) -> bool:
        """Write terminal status and capsule at once. False if the run is no longer as `expected`. Raises HolderGone."""
        ...

    async def release(self, owner: str) -> int:
        """Make the running runs of `owner` pending again. Returns their number."""
        ...

    async def adopt(self, dead: str, owner: str, run_id: str | None = None) -> int:
        """Give the unfinished runs of `dead`, or one of them, to `owner`, as pending. Returns their number."""
        ...

    async def owners(self) -> list[str]:
        """The owners of unfinished runs."""
        ...

    async def request_cancel(self, run_id: str) -> None: ...

    async def cancel_requests(self, owner: str) -> list[str]:
        """Unfinished runs of `owner` with a request to cancel."""
        ...

    async def get(self, run_id: str) -> RunRecord | None: ...

    async def list(self, wanted: RunFilter) -> list[RunRecord]:
        """Newest first, without results."""
        ...

    async def counts(self) -> dict[str, int]:
        """The number of runs in each status."""
        ...

    async def cached(self, cache_key: str) -> RunRecord | None:
        """The newest succeeded run with this key, with its result."""
        ...

    async def capsule(self, run_id: str) -> dict[str, Any] | None: ...
