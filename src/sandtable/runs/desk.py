"""Where runs are handed in, waited for, listed and cancelled.

Invariant: a run that `submit` returned reaches exactly one terminal state with exactly one capsule,
whatever dies in between. An accepted run belongs to the instance that took it; when that instance
is dead, the next one to look adopts its runs.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from sandtable.capsule.keys import SigningKey
from sandtable.capsule.seal import chart_in
from sandtable.capsule.store import RunFilter, RunRecord, RunStore, Status, StoreCorrupt, StoreUnavailable
from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, NotFound, RunnerBroken, SandboxUnavailable, SandtableError
from sandtable.runs.code import require_tables, switched_off
from sandtable.runs.draft import Draft
from sandtable.runs.ids import RunIds, is_run_id
from sandtable.runs.instance import Instance
from sandtable.runs.model import Run, RunRequest, body_of, run_of, search_text
from sandtable.runs.parts import Parts
from sandtable.runs.pipeline import limits_for
from sandtable.runs.waiters import Waiters
from sandtable.runs.worker import Stopper, Worker, iso

log = structlog.get_logger(__name__)

MOST_LISTED = 500
SWEEP_S = 15.0
CANCEL_POLL_S = 0.5
LOCAL_POLL_S = 1.0
FOREIGN_POLL_S = 0.1
CANCEL_WAIT_S = 10.0
ENDED_REMEMBERED = 64
ROWS_REMEMBERED = 500


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class _Active:
    task: asyncio.Task[None]
    stopper: Stopper


class Runs:
    def __init__(
        self,
        store: RunStore,
        parts: Parts,
        key: SigningKey,
        home: Path,
        *,
        concurrency: int = 4,
        queue_limit: int = 10_000,
        max_attempts: int = 25,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._store = store
        self._parts = parts
        self._concurrency = concurrency
        self._queue_limit = queue_limit
        self._now = now
        self._instance = Instance(home)
        self._ids = RunIds()
        self._waiters = Waiters()
        self._worker = Worker(store, parts, key, self._waiters, now, max_attempts, self._remember)
        self._active: dict[str, _Active] = {}
        self._ended: OrderedDict[str, Run] = OrderedDict()
        """The latest ones: whoever waited for a run looks at it again soon."""
        self._open: set[str] = set()
        """Accepted here and not known to have ended: nothing new about them is in the store."""
        self._pending = 1
        """How many runs wait to be claimed here. More than there are costs one look in vain."""
        self._wake = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self._adopting = True

    async def start(self, *, adopt: bool = True) -> None:
        """Open the store and begin to work. `adopt=False` leaves the runs of dead instances to others."""
        self._adopting = adopt
        self._instance.acquire()
        try:
            await self._store.open()
            await self._recover()
        except BaseException:
            await self._store.aclose()
            self._instance.release()
            raise
        self._wake.set()
        self._loops = [asyncio.create_task(self._dispatch()), asyncio.create_task(self._sweep())]
        for loop in self._loops:
            loop.add_done_callback(_report_broken_loop)

    async def aclose(self) -> None:
        """Stop. Running runs go back to the queue, for whoever opens this home next."""
        loops, self._loops = self._loops, []
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        tasks = [active.task for active in self._active.values()]
        for active in self._active.values():
            active.stopper.stop("close")
        if tasks:
            await asyncio.wait(tasks)
        if loops:
            await self._put_back()
        await self._store.aclose()
        self._instance.release()

    async def _put_back(self) -> None:
        try:
            await self._store.release(self._instance.id)
        except (StoreUnavailable, StoreCorrupt) as error:
            # The released lock says the same: whoever starts next finds the owner gone.
            log.warning("runs_not_put_back", reason=error.message)

    async def submit(self, request: RunRequest) -> Run:
        """Accept a run: it is on disk when this returns. Raises NotFound, InvalidInput, QueueFull."""
        if not self._loops:
            raise SandboxUnavailable("runs are not taken: the server stops", suggestion="Try again soon.")
        dataset = await self._parts.datasets.ready(request.dataset_id)
        if request.python is not None:
            self._require_python(request, dataset)
        now = self._now()
        run = Run(
            id=self._ids.next(now),
            status="pending",
            request=request,
            dataset_version=dataset.version,
            limits=limits_for(self._parts.limits, request.max_rows, request.timeout_ms),
            created_at=iso(now),
            sql=request.sql,
        )
        record = RunRecord(
            id=run.id,
            owner=self._instance.id,
            user=request.user,
            dataset_id=request.dataset_id,
            created_at=run.created_at,
            body=body_of(run),
            search=search_text(request),
        )
        await self._store.accept(record, self._queue_limit)
        self._open.add(run.id)
        self._pending += 1
        log.info("run_accepted", run_id=run.id, dataset_id=request.dataset_id, mode=request.mode)
        self._wake.set()
        return run

    def _require_python(self, request: RunRequest, dataset: Dataset) -> None:
        if self._parts.judge_python is None:
            raise switched_off()
        if not request.check and not self._parts.may_skip_check:
            raise InvalidInput("code is always checked on a server", suggestion="Leave `check` as it is.")
        require_tables(request.names, dataset)

    async def get(self, run_id: str) -> Run:
        return self._ended.get(run_id) or await self._whole(run_of(await self._record(run_id)))

    async def list(
        self,
        status: Status | None = None,
        dataset_id: str | None = None,
        text: str | None = None,
        user: str | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[Run]:
        """Newest first, without rows."""
        if not 1 <= limit <= MOST_LISTED:
            raise InvalidInput(
                f"`limit` is {limit}; it must be between 1 and {MOST_LISTED}",
                suggestion="Ask for less, and go on with `before`.",
                field="limit",
            )
        if before is not None and not is_run_id(before):
            raise InvalidInput(
                f"`before` is {before[:80]!r}, which is no run id",
                suggestion="Give the id of the last run you have; it begins with `run_`.",
                field="before",
            )
        wanted = RunFilter(status, dataset_id, user, text, before, limit)
        return [run_of(record) for record in await self._store.list(wanted)]

    async def counts(self) -> dict[str, int]:
        """How many runs have each status."""
        return await self._store.counts()

    async def capsule(self, run_id: str) -> dict[str, Any]:
        """The signed envelope. Raises NotFound while the run has not ended."""
        envelope = await self._store.capsule(run_id)
        if envelope is None:
            record = await self._record(run_id)
            raise NotFound(
                f"run {run_id} has no capsule yet: it is {record.status}",
                suggestion="Wait until the run has ended.",
            )
        return envelope

    async def wait(self, run_id: str, timeout_s: float | None = None) -> Run:
        """The run when it has ended, or as it is after `timeout_s`. Raises when its end cannot be stored."""
        give_up = None if timeout_s is None else time.monotonic() + timeout_s
        if run_id in self._open and (timeout_s is None or timeout_s > 0):
            await self._waiters.wait(run_id, min(LOCAL_POLL_S, timeout_s or LOCAL_POLL_S))
        while True:
            if (ended := self._ended.get(run_id)) is not None:
                return ended
            record = await self._record(run_id)
            run = run_of(record)
            left = None if give_up is None else give_up - time.monotonic()
            if run.ended or (left is not None and left <= 0):
                return await self._whole(run)
            poll = LOCAL_POLL_S if record.owner == self._instance.id else FOREIGN_POLL_S
            await self._waiters.wait(run_id, poll if left is None else min(poll, left))

    async def cancel(self, run_id: str) -> Run:
        """Stop a run. One that has ended stays as it is."""
        give_up = time.monotonic() + CANCEL_WAIT_S
        while True:
            record = await self._record(run_id)
            if run_of(record).ended or time.monotonic() > give_up:
                return await self._whole(run_of(record))
            await self._try_cancel(record)

    async def _try_cancel(self, record: RunRecord) -> None:
        active = self._active.get(record.id)
        if active is not None:
            active.stopper.stop("cancel")
            await self._waiters.wait(record.id, LOCAL_POLL_S)
        elif record.owner != self._instance.id:
            await self._cancel_foreign(record)
        elif record.status == "pending":
            draft = Draft.of(record)
            draft.cancel()
            await self._worker.end(draft, record, "pending")
        else:
            # Claimed a moment ago; the dispatcher is about to make it active.
            await asyncio.sleep(0.005)

    async def _cancel_foreign(self, record: RunRecord) -> None:
        with self._instance.inherit(record.owner) as dead:
            if dead:
                self._pending += await self._store.adopt(record.owner, self._instance.id, record.id)
        if not dead:
            await self._store.request_cancel(record.id)
            await asyncio.sleep(FOREIGN_POLL_S)

    async def _record(self, run_id: str) -> RunRecord:
        record = await self._store.get(run_id)
        if record is None:
            raise NotFound(f"no run {run_id!r}", suggestion="`sandtable runs` or GET /runs lists them.")
        return record

    async def _whole(self, run: Run) -> Run:
        """With its figure, which is kept once, where it is signed. What has ended stays as it is."""
        if run.request.chart and run.status == "succeeded" and run.chart is None:
            envelope = await self._store.capsule(run.id)
            run = run if envelope is None else run.model_copy(update={"chart": chart_in(envelope)})
        if run.ended:
            self._remember(run)
        return run

    def _remember(self, run: Run) -> None:
        """As it is in the store by now."""
        self._open.discard(run.id)
        if len(run.rows or ()) <= ROWS_REMEMBERED and not run.artifacts:
            self._ended[run.id] = run
            while len(self._ended) > ENDED_REMEMBERED:
                self._ended.popitem(last=False)

    async def _dispatch(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                while len(self._active) < self._concurrency and self._pending > 0:
                    known = self._pending
                    record = await self._store.claim(self._instance.id, iso(self._now()))
                    # Others may have been accepted meanwhile.
                    self._pending -= known if record is None else 1
                    if record is None:
                        break
                    self._launch(record)
            except (StoreUnavailable, StoreCorrupt) as error:
                log.error("queue_not_readable", reason=error.message)
                asyncio.get_running_loop().call_later(1.0, self._wake.set)

    def _launch(self, record: RunRecord) -> None:
        stopper = Stopper()
        task = asyncio.create_task(self._worker.work(record, stopper))
        self._active[record.id] = _Active(task, stopper)
        task.add_done_callback(lambda done: self._landed(record.id, done))

    def _landed(self, run_id: str, task: asyncio.Task[None]) -> None:
        del self._active[run_id]
        self._wake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("run_worker_broke", run_id=run_id, exc_info=error)
            self._waiters.fail(run_id, error if isinstance(error, SandtableError) else _lost_worker(run_id))

    async def _sweep(self) -> None:
        """Hear what other processes ask, and adopt what dead ones left."""
        swept = time.monotonic()
        while True:
            await asyncio.sleep(CANCEL_POLL_S)
            try:
                if self._active:
                    for run_id in await self._store.cancel_requests(self._instance.id):
                        await self._try_cancel(await self._record(run_id))
                if time.monotonic() - swept > SWEEP_S:
                    await self._recover()
                    swept = time.monotonic()
            except (StoreUnavailable, StoreCorrupt) as error:
                log.error("sweep_failed", reason=error.message)

    async def _recover(self) -> None:
        if not self._adopting:
            return
        for owner in {*await self._store.owners(), *self._instance.others()}:
            with self._instance.inherit(owner) as dead:
                taken = await self._store.adopt(owner, self._instance.id) if dead else 0
            if taken:
                log.warning("runs_adopted", owner=owner, runs=taken)
                self._pending += taken
                self._wake.set()


def _report_broken_loop(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.critical("run_loop_broke", exc_info=error)


def _lost_worker(run_id: str) -> RunnerBroken:
    return RunnerBroken(
        f"the end of run {run_id} could not be stored",
        suggestion="The run is kept and tried again at the next start; the server's log has the reason.",
    )
