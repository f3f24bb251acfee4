"""The jobs of this service: each accepted once, kept while requests ask for it, then dropped.

Invariant: a job that no request waits for is cancelled when its lease expires, so that a dead server leaves nothing
running. The numbers of accepted jobs and of stored results are bounded.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from sandtable.catalog.stored.integrity import Whole
from sandtable.errors import NotFound, RunnerBroken, SandboxUnavailable, SandtableError
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.recent import Recent
from sandtable.sandbox.executor import JobStatus, Tier
from sandtable.sandbox.job import Job, JobResult
from sandtable.server.execd.admit import DataFolder

LEASE_S = 30.0
_KEPT = 64
_RETRY_S = 0.5
_KILL_S = 5.0

log = structlog.get_logger("sandtable.execd")


class Full(SandboxUnavailable):
    """No place is free: another replica may have one, or this one in a moment."""


@dataclass(slots=True, eq=False)
class _Entry:
    job: Job
    inner: str
    """Its id in the tier, which remembers ids longer than this desk does."""
    task: asyncio.Task[JobResult]
    waiting: int = 0
    lease: asyncio.TimerHandle | None = None


class Desk:
    def __init__(
        self,
        executor: Tier,
        data: DataFolder,
        *,
        most: int = 20,
        kept: int = _KEPT,
        lease_s: float = LEASE_S,
        tracer: Tracer = UNOBSERVED.tracer,
    ) -> None:
        """`most`: jobs that run or wait at the same time; `kept`: results of jobs that have ended."""
        self._executor = executor
        self._data = data
        self._most = most
        self._kept = kept
        self._lease_s = lease_s
        self._tracer = tracer
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._dropped: Recent[str, bool] = Recent(1024)
        self._ends: set[asyncio.Task[None]] = set()
        self.replica = secrets.token_hex(8)

    def take(self, job: Job, link: str = "") -> None:
        """Idempotent: a known id changes nothing. `link`: the span that the job belongs to. Raises Full."""
        if job.id in self._entries:
            return
        under_way = sum(not entry.task.done() for entry in self._entries.values())
        if under_way >= self._most:
            raise Full(
                f"all places are taken: {under_way} jobs run or wait",
                suggestion="Run more replicas of `sandtable execd`, or try again in a moment",
                why="full", retry_after_s=_RETRY_S, replica=self.replica,
            )  # fmt: skip
        inner = f"{job.id}.{secrets.token_hex(4)}"
        task = asyncio.create_task(self._traced(job, inner, link), name=f"job {job.id}")
        task.add_done_callback(_retrieve)
        entry = self._entries[job.id] = _Entry(job, inner, task)
        self._arm(entry)
        self._forget_oldest()

    async def _traced(self, job: Job, inner: str, link: str) -> JobResult:
        """A part of the trace that the job came with; without one, the job has none."""
        with self._tracer.under(link), self._tracer.span("execd.job", mode=job.mode) as span:
            result = await self._run(job, inner)
            span.set(status=result.status)
            if result.error is not None:
                span.fail(result.error.code)
            return result

    async def _run(self, job: Job, inner: str) -> JobResult:
        with self._tracer.span("execd.data"):
            admitted = await self._admitted(job)
        if isinstance(admitted, JobResult):
            return admitted
        job, whole = admitted
        with self._tracer.span("execd.sandbox"):
            await self._executor.submit(job.model_copy(update={"id": inner}))
            result = await self._executor.result(inner)
        if not await self._data.unchanged(whole):
            return self._data.damaged(job, "its files changed while they were read")
        return result.model_copy(update={"job_id": job.id})

    async def _admitted(self, job: Job) -> tuple[Job, Whole | None] | JobResult:
        """The job over its data here, or why it cannot run."""
        missing = await self._data.missing(job)
        if missing is not None and job.mode != "probe":
            return missing
        if missing is not None:
            # A server's self-test, whose decoy data is in the server's folder: the attempts are made without it.
            job = job.model_copy(update={"dataset_version": "", "data": ()})
        return await self._data.opened(job)

    async def wait(
        self, job_id: str, seconds: float, gone: asyncio.Task[Any] | None = None
    ) -> JobResult | None:
        """The result, or None on timeout. If `gone` ends first, this request no longer waits,
        and the job is cancelled unless another request waits for it. Raises what the tier raised."""
        entry = self._entry(job_id)
        with self._attended(entry):
            both = {entry.task} if gone is None else {entry.task, gone}
            await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if entry.task.done():
            return self._outcome(entry)
        if gone is not None and gone.done() and not entry.waiting:
            self._drop(entry, "its connection broke")
        return None

    def _outcome(self, entry: _Entry) -> JobResult:
        if entry.task.cancelled():
            return JobResult(job_id=entry.job.id, status="cancelled")
        if entry.task.exception() is not None:
            # The failure may be temporary: the same job runs again when it is submitted again.
            self._forget(entry)
        return entry.task.result()

    async def status(self, job_id: str) -> JobStatus:
        entry = self._entry(job_id)
        with self._attended(entry):
            if entry.task.done():
                return "done"
            found = await self._executor.status(entry.inner)
            return found if found == "running" else "pending"

    async def cancel(self, job_id: str) -> JobResult:
        """Kills the job unless it has ended; one that was dropped recently counts as cancelled."""
        if job_id not in self._entries and self._dropped.get(job_id):
            return JobResult(job_id=job_id, status="cancelled")
        entry = self._entry(job_id)
        with self._attended(entry):
            if not entry.task.done():
                await self._end(entry)
                await asyncio.wait({entry.task}, timeout=_KILL_S)
        if not entry.task.done():
            raise RunnerBroken(f"job {job_id!r} did not end", suggestion="Look in this service's log")
        return self._outcome(entry)

    def _entry(self, job_id: str) -> _Entry:
        entry = self._entries.get(job_id)
        if entry is None:
            raise NotFound(
                f"no job {job_id[:200]!r} here", suggestion="Submit it again: it may be unknown to this replica",
                why="unknown_job", replica=self.replica,
            )  # fmt: skip
        return entry

    # Leases

    @contextmanager
    def _attended(self, entry: _Entry) -> Generator[None, None, None]:
        entry.waiting += 1
        if entry.lease is not None:
            entry.lease.cancel()
        try:
            yield
        finally:
            entry.waiting -= 1
            if not entry.waiting and self._entries.get(entry.job.id) is entry:
                self._arm(entry)

    def _arm(self, entry: _Entry) -> None:
        loop = asyncio.get_running_loop()
        entry.lease = loop.call_later(self._lease_s, self._drop, entry, "no client asked for it")

    def _drop(self, entry: _Entry, reason: str) -> None:
        self._forget(entry)
        if entry.task.done():
            return
        log.info("job_dropped", job_id=entry.job.id, reason=reason)
        self._dropped.put(entry.job.id, True)
        task = asyncio.create_task(self._end(entry), name=f"end {entry.job.id}")
        self._ends.add(task)
        task.add_done_callback(self._ends.discard)

    async def _end(self, entry: _Entry) -> None:
        try:
            await self._executor.cancel(entry.inner)
        except NotFound:
            # The job has not reached the tier yet, and must not.
            entry.task.cancel()
        except SandtableError as error:
            log.error("job_not_ended", job_id=entry.job.id, reason=error.message)

    def _forget(self, entry: _Entry) -> None:
        if entry.lease is not None:
            entry.lease.cancel()
        if self._entries.get(entry.job.id) is entry:
            del self._entries[entry.job.id]

    def _forget_oldest(self) -> None:
        ended = [entry for entry in self._entries.values() if entry.task.done() and not entry.waiting]
        for entry in ended[: max(0, len(ended) - self._kept)]:
            self._forget(entry)

    async def aclose(self) -> None:
        """Cancels all jobs; waiting servers get `cancelled` or no response, and submit the job to another replica."""
        for entry in list(self._entries.values()):
            self._drop(entry, "the service stops")
        await asyncio.gather(*self._ends, return_exceptions=True)


def _retrieve(task: asyncio.Task[JobResult]) -> None:
    """Marks the exception as retrieved: asyncio would log it if no request waits for the job."""
    if not task.cancelled():
        task.exception()
