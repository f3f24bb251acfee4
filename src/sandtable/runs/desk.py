"""Where runs are submitted, awaited, listed and cancelled.

Invariant: a run that `submit` returned reaches exactly one terminal state with exactly one capsule, even if processes
crash. An unfinished run belongs to one instance: the one that accepted it, or, in a store that servers share, the one
that claimed it. When that instance is dead, another instance adopts its runs at its next sweep.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from sandtable.capsule.keys import SigningKey
from sandtable.capsule.query import CodeQuery, SqlQuery
from sandtable.capsule.seal import chart_in
from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, NotFound, QueueFull, SandboxUnavailable
from sandtable.quoting import quote
from sandtable.runs.cells import SessionKey
from sandtable.runs.code import require_tables, switched_off
from sandtable.runs.dispatch import Dispatcher
from sandtable.runs.draft import Draft
from sandtable.runs.fair_queue import share_of, some_of
from sandtable.runs.ids import RunIds
from sandtable.runs.listing import list_runs
from sandtable.runs.liveness import HomeLiveness, Liveness
from sandtable.runs.model import Run, RunRequest, body_of, run_of, search_text
from sandtable.runs.pace import Pace
from sandtable.runs.parts import RunParts
from sandtable.runs.pipeline import limits_for
from sandtable.runs.quotas import Quotas
from sandtable.runs.waiters import Waiters, Watch
from sandtable.runs.worker import Worker, iso
from sandtable.stopping import stopped
from sandtable.store.run_store import (
    OwnRuns,
    RunFilter,
    RunNews,
    RunRecord,
    RunStore,
    Status,
    StoreCorrupt,
    StoreUnavailable,
)

log = structlog.get_logger(__name__)

SWEEP_S = 15.0
SHARED_SWEEP_S = 3.0
"""Other servers may die while this one runs, and their callers wait."""
CANCEL_POLL_S = 0.5
LOCAL_POLL_S = 1.0
FOREIGN_POLL_S = 0.1
CANCEL_WAIT_S = 10.0
ENDED_REMEMBERED = 64
ROWS_REMEMBERED = 500


def utc_now() -> datetime:
    return datetime.now(UTC)


class Runs:
    def __init__(
        self,
        store: RunStore,
        parts: RunParts,
        key: SigningKey,
        home: Path,
        *,
        concurrency: int = 4,
        queue_limit: int = 10_000,
        share: float = 1.0,
        max_attempts: int = 25,
        now: Callable[[], datetime] = utc_now,
        instance: Liveness | None = None,
        quotas: Quotas | None = None,
    ) -> None:
        """`share`: how much of the slots and of the queue one user may have. `instance` tells which instances are
        alive; by default, a lock in the home. `quotas` limits what a user may have stored."""
        self._store = store
        self._parts = parts
        self._queue_limit = queue_limit
        self._user_limit = share_of(queue_limit, share)
        self._quotas = quotas or Quotas()
        self._now = now
        self._instance = instance or HomeLiveness(home)
        self._ids = RunIds()
        self._waiters = Waiters()
        self._pace = Pace()
        self._worker = Worker(store, parts, key, self._waiters, now, max_attempts, self._on_end)
        self._dispatcher = Dispatcher(
            store, self._worker, self._instance, lambda: iso(now()), concurrency=concurrency, share=share
        )
        self._ended: OrderedDict[str, Run] = OrderedDict()
        """The latest ended runs: callers that waited for a run read it again soon."""
        self._open: set[str] = set()
        """Accepted here and not known to have ended: the store has nothing newer about them."""
        self._sweep_now = False
        self._loops: list[asyncio.Task[None]] = []
        self._adopting = True
        store.subscribe(self._on_news)

    async def start(self, *, adopt: bool = True) -> None:
        """Open the store and start working. `adopt=False` executes this instance's own runs only."""
        self._adopting = self._dispatcher.anyones = adopt
        await self._instance.acquire()
        try:
            await self._store.open()
            await self._recover()
        except BaseException:
            await self._store.aclose()
            await self._instance.release()
            raise
        self._loops = [asyncio.create_task(self._dispatcher.work()), asyncio.create_task(self._sweep())]
        for loop in self._loops:
            loop.add_done_callback(_report_broken_loop)

    async def drain(self) -> None:
        """Begin no more runs, and return when those that are executed have ended. The queue stays in the store."""
        await self._dispatcher.drain()

    async def aclose(self) -> None:
        """Stop. Running runs return to the queue, for the next process that opens this home."""
        loops, self._loops = self._loops, []
        await stopped(*loops)
        await self._dispatcher.aclose()
        if loops:
            await self._put_back()
        await self._store.aclose()
        await self._instance.release()

    async def _put_back(self) -> None:
        try:
            await self._store.release(self._instance.id)
        except (StoreUnavailable, StoreCorrupt) as error:
            # The released lock has the same effect: the next process finds the owner dead.
            log.warning("runs_not_put_back", reason=error.message)

    async def submit(self, request: RunRequest) -> Run:
        """Accept a run: it is on disk when this returns. Raises NotFound, InvalidInput, QueueFull, QuotaFull."""
        if not self._loops:
            raise SandboxUnavailable("runs are not taken: the server stops", suggestion="Try again soon.")
        dataset = await self._parts.datasets.ready(request.dataset_id)
        query = request.query
        if isinstance(query, CodeQuery):
            self._require_python(query, dataset)
        await self._quotas.require_disk(request.user)
        now = self._now()
        run = Run(
            id=self._ids.next(now),
            status="pending",
            request=request,
            dataset_version=dataset.version,
            catalog_version=dataset.catalog_version,
            limits=limits_for(self._parts.limits, request.max_rows, request.timeout_ms),
            created_at=iso(now),
            sql=query.sql if isinstance(query, SqlQuery) else None,
            traceparent=self._parts.observer.tracer.link,
        )
        key = SessionKey.of(run)
        record = RunRecord(
            id=run.id,
            owner=self._instance.id,
            user=request.user,
            dataset_id=request.dataset_id,
            created_at=run.created_at,
            body=body_of(run),
            search=search_text(request),
            # A live session, and the data of a single-user process, exist only on this machine.
            pinned=key is not None or not self._adopting,
            session=None if key is None else key.text,
        )
        try:
            with self._parts.observer.storing("accept"):
                await self._store.accept(record, self._queue_limit, self._user_limit)
        except QueueFull as error:
            raise self._pace.refused(error, some_of(min(self._queue_limit, self._user_limit))) from None
        self._open.add(run.id)
        log.info("run_accepted", run_id=run.id, dataset_id=request.dataset_id, mode=request.mode)
        self._dispatcher.look()
        return run

    def _require_python(self, query: CodeQuery, dataset: Dataset) -> None:
        if self._parts.judge_python is None:
            raise switched_off()
        if not query.check and not self._parts.may_skip_check:
            raise InvalidInput("code is always checked on a server", suggestion="Leave `check` as it is.")
        require_tables(query.names, dataset)

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
        seen: OwnRuns | None = None,
    ) -> list[Run]:
        """Newest first, without rows."""
        return await list_runs(
            self._store, RunFilter(status, dataset_id, user, text, before, limit, seen=seen)
        )

    async def probe(self) -> None:
        """Reads and writes the store. Raises StoreUnavailable, StoreCorrupt."""
        await self._store.probe()

    @property
    def executing(self) -> int:
        """How many runs this process is working on."""
        return len(self._dispatcher.tasks)

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
        """The run when it has ended, or its state after `timeout_s`. Raises when its end cannot be stored."""
        give_up = None if timeout_s is None else time.monotonic() + timeout_s
        if run_id in self._open and (timeout_s is None or timeout_s > 0):
            await self._waiters.wait(run_id, min(LOCAL_POLL_S, timeout_s or LOCAL_POLL_S))
        while True:
            with self._waiters.watch(run_id) as watch:
                if (ended := self._ended.get(run_id)) is not None:
                    return ended
                record = await self._record(run_id)
                run = run_of(record)
                left = None if give_up is None else give_up - time.monotonic()
                if run.ended or (left is not None and left <= 0):
                    return await self._whole(run)
                await watch.wait(
                    self._patience(record) if left is None else min(self._patience(record), left)
                )

    def _patience(self, record: RunRecord) -> float:
        """How long to wait before reading the record again. The end of our own runs, and of all runs in a shared store,
        is announced."""
        announced = self._store.shared or record.owner == self._instance.id
        return LOCAL_POLL_S if announced else FOREIGN_POLL_S

    async def cancel(self, run_id: str) -> Run:
        """Stop a run. An ended run does not change."""
        give_up = time.monotonic() + CANCEL_WAIT_S
        while True:
            with self._waiters.watch(run_id) as watch:
                record = await self._record(run_id)
                if run_of(record).ended or time.monotonic() > give_up:
                    return await self._whole(run_of(record))
                await self._try_cancel(record, watch)

    async def _try_cancel(self, record: RunRecord, watch: Watch) -> None:
        if self._dispatcher.cancel(record.id):
            await watch.wait(LOCAL_POLL_S)
        elif record.status == "pending":
            draft = Draft.of(record)
            draft.cancel()
            await self._worker.end(draft, record, "pending")
        elif record.owner != self._instance.id:
            await self._cancel_foreign(record, watch)
        else:
            # Claimed a moment ago; the dispatcher is about to make it active.
            await asyncio.sleep(0.005)

    async def _cancel_foreign(self, record: RunRecord, watch: Watch) -> None:
        async with self._instance.inherit(record.owner) as dead:
            if dead:
                self._dispatcher.look(await self._store.adopt(record.owner, self._instance.id, record.id))
        if not dead:
            if not record.cancel_requested:
                await self._store.request_cancel(record.id)
            await watch.wait(self._patience(record))

    async def _record(self, run_id: str) -> RunRecord:
        record = await self._store.get(run_id)
        if record is None:
            raise await self._unknown(run_id)
        return record

    async def _unknown(self, run_id: str) -> NotFound:
        removed = await self._store.holdings.removal(run_id)
        if removed is None:
            return no_run(run_id)
        return NotFound(
            f"run {quote(run_id)} was removed by retention on {removed.removed_at[:10]}",
            suggestion="A copy of its capsule that was exported before still verifies. Ask again for a new answer.",
            removed_at=removed.removed_at,
            rule=removed.rule,
            capsule=removed.capsule,
        )

    async def user_of_removed(self, run_id: str) -> str | None:
        """Who asked for a run that retention removed; None for any other id."""
        removed = await self._store.holdings.removal(run_id)
        return None if removed is None else removed.user

    def forget(self, run_ids: Iterable[str]) -> None:
        """Drop removed runs from the cache."""
        for run_id in run_ids:
            self._ended.pop(run_id, None)

    async def _whole(self, run: Run) -> Run:
        """Adds its figure, which is stored only in the signed capsule. Ended runs never change."""
        if run.request.chart and run.status == "succeeded" and run.chart is None:
            envelope = await self._store.capsule(run.id)
            run = run if envelope is None else run.model_copy(update={"chart": chart_in(envelope)})
        if run.ended:
            self._remember(run)
        return run

    def _on_end(self, run: Run) -> None:
        self._pace.ended()
        self._remember(run)

    def _remember(self, run: Run) -> None:
        """Cache a run that is stored as ended."""
        self._open.discard(run.id)
        if len(run.rows or ()) <= ROWS_REMEMBERED and not run.artifacts:
            self._ended[run.id] = run
            while len(self._ended) > ENDED_REMEMBERED:
                self._ended.popitem(last=False)

    def _on_news(self, news: RunNews) -> None:
        """Handle an event of the shared store."""
        match news.kind:
            case "work" if self._adopting and news.owner != self._instance.id:
                self._dispatcher.look()
            case "ended" if news.run_id is not None:
                self._open.discard(news.run_id)
                self._waiters.tell(news.run_id)
            case "cancel" if news.run_id is not None:
                self._dispatcher.cancel(news.run_id)
            case "missed":
                self._dispatcher.look()
                self._open.clear()
                self._waiters.tell_all()
                self._sweep_now = True
            case _:
                return

    async def _sweep(self) -> None:
        """Poll for cancel requests of other processes, and adopt runs of dead instances."""
        swept, every = time.monotonic(), SHARED_SWEEP_S if self._store.shared else SWEEP_S
        while True:
            await asyncio.sleep(CANCEL_POLL_S)
            try:
                if self._dispatcher.busy:
                    for run_id in await self._store.cancel_requests(self._instance.id):
                        self._dispatcher.cancel(run_id)
                if self._sweep_now or time.monotonic() - swept > every:
                    self._sweep_now, swept = False, time.monotonic()
                    await self._recover()
            except (StoreUnavailable, StoreCorrupt) as error:
                log.error("sweep_failed", reason=error.message)

    async def _recover(self) -> None:
        if not self._adopting or not self._instance.alive:
            return
        for owner in {*await self._store.owners(), *self._instance.others()} - {self._instance.id}:
            async with self._instance.inherit(owner) as dead:
                taken = await self._store.adopt(owner, self._instance.id) if dead else 0
            if taken:
                log.warning("runs_adopted", owner=owner, runs=taken)
                self._dispatcher.look(taken)
        if self._store.shared:
            # Notifications of accepted runs may have been missed.
            self._dispatcher.look()


def no_run(run_id: str) -> NotFound:
    return NotFound(f"no run {quote(run_id)}", suggestion="`sandtable runs` or GET /runs lists them.")


def _report_broken_loop(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.critical("run_loop_broke", exc_info=error)
