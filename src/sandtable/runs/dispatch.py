"""The runs that this process executes: claimed one by one while there is room, and stopped when they must be.

Invariant: nothing is claimed without a live lock, and no run is executed twice at the same time in one process.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from sandtable.errors import RunnerBroken, SandtableError
from sandtable.runs.fair_queue import share_of
from sandtable.runs.liveness import Liveness
from sandtable.runs.worker import Stopper, Worker
from sandtable.store.run_store import Fairness, RunRecord, RunStore, StoreCorrupt, StoreUnavailable

log = structlog.get_logger(__name__)


_LATELY = 64
"""How many users with recently claimed runs are remembered."""


@dataclass(slots=True)
class _Active:
    task: asyncio.Task[None]
    stopper: Stopper
    cell: bool
    """Whether it is a cell of a session."""


class Dispatcher:
    def __init__(
        self,
        store: RunStore,
        worker: Worker,
        instance: Liveness,
        now: Callable[[], str],
        *,
        concurrency: int,
        share: float,
    ) -> None:
        self._store = store
        self._worker = worker
        self._instance = instance
        self._concurrency = concurrency
        self._each = share_of(concurrency, share)
        self._lately: OrderedDict[str, None] = OrderedDict()
        self._now = now
        self.anyones = True
        """Whether runs that other servers accepted are claimed, too."""
        self._active: dict[str, _Active] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        """Runs that another server may have adopted: they are being stopped."""
        self._pending = 1
        """How many runs may be claimed here. Too high a number costs one empty query."""
        self._wake = asyncio.Event()
        self._wake.set()
        self._draining = False
        instance.on_loss(self._let_go)

    @property
    def busy(self) -> bool:
        return bool(self._active)

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return [active.task for active in self._active.values()]

    def look(self, runs: int = 1) -> None:
        """Announces that `runs` more may be pending."""
        self._pending += runs
        self._wake.set()

    def cancel(self, run_id: str) -> bool:
        """True if the run is active here; it is being stopped now."""
        active = self._active.get(run_id)
        if active is not None:
            active.stopper.stop("cancel")
        return active is not None

    async def work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                while self._has_room() and await self._claim():
                    continue
            except (StoreUnavailable, StoreCorrupt) as error:
                log.error("queue_not_readable", reason=error.message)
                asyncio.get_running_loop().call_later(1.0, self._wake.set)

    async def drain(self) -> None:
        """Claims nothing more, and returns when the active runs have ended."""
        self._draining = True
        while self._active:
            await asyncio.wait(self.tasks)

    async def aclose(self) -> None:
        """Stops active runs and leaves them for others to claim."""
        for active in self._active.values():
            active.stopper.stop("close")
        if self._active:
            await asyncio.wait(self.tasks)

    def _has_room(self) -> bool:
        free = len(self._active) < self._concurrency and not self._draining
        return free and self._pending > 0 and self._instance.alive

    async def _claim(self) -> bool:
        if self._leaving:
            await asyncio.wait(self._leaving)
            self._leaving.clear()
        known, owner = self._pending, self._instance.id
        with self._worker.parts.observer.storing("claim"):
            record = await self._store.claim(owner, self._now(), self._fairness(), anyones=self.anyones)
        if record is None:
            if not self._active:
                # Others may have been accepted meanwhile.
                self._pending -= known
            # Otherwise some may wait for active runs: for their session's turn, or for their user's share.
            return False
        if not self._instance.alive or self._instance.id != owner:
            # The server that adopts the runs of the old id will execute it.
            log.warning("claim_lost", run_id=record.id)
            return True
        # In a shared store, the number of pending runs is not known here.
        self._pending -= 0 if self._store.shared else 1
        self._launch(record)
        return True

    def _fairness(self) -> Fairness:
        sessions = self._worker.parts.sessions
        cells = sum(active.cell for active in self._active.values())
        return Fairness(self._each, tuple(self._lately), sessions is None or cells < sessions.most)

    def _let_go(self) -> None:
        for active in self._active.values():
            active.stopper.stop("close")
            self._leaving.add(active.task)

    def _launch(self, record: RunRecord) -> None:
        stopper = Stopper()
        task = asyncio.create_task(self._worker.work(record, stopper))
        self._active[record.id] = _Active(task, stopper, record.session is not None)
        self._lately[record.user] = None
        self._lately.move_to_end(record.user)
        if len(self._lately) > _LATELY:
            self._lately.popitem(last=False)
        task.add_done_callback(lambda done: self._landed(record.id, done))

    def _landed(self, run_id: str, task: asyncio.Task[None]) -> None:
        del self._active[run_id]
        self._wake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("run_worker_broke", run_id=run_id, exc_info=error)
            told = error if isinstance(error, SandtableError) else _lost_worker(run_id)
            self._worker.waiters.fail(run_id, told)


def _lost_worker(run_id: str) -> RunnerBroken:
    return RunnerBroken(
        f"the end of run {run_id} could not be stored",
        suggestion="The run is kept and tried again at the next start; the server's log has the reason.",
    )
