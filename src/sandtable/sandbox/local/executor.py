"""LocalExecutor: jobs run in single-use sandboxes on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import structlog
from pydantic import ValidationError

from sandtable.errors import NotFound, SandboxUnavailable
from sandtable.sandbox.executor import JobStatus
from sandtable.sandbox.job import WRITES, Job, JobResult
from sandtable.sandbox.local.outcome import explain_end, failed, timed_out
from sandtable.sandbox.local.pool import KEYS_KEPT, Key, Origin, Pool
from sandtable.sandbox.local.sandbox import Garbled, Sandbox
from sandtable.sandbox.local.template import Hello, TemplateProcess

log = structlog.get_logger(__name__)

_RESULTS_KEPT = 64
_ANSWER_SLACK = 1 << 20
_READY_BYTES = 4096
_END_GRACE_S = 1.0
_QUIET_S = 0.25
_REFILL_LATEST_S = 3.0
_TEMPLATE_MB = 1024
_PIDS_EACH = 64


class LocalExecutor:
    name = "local"

    def __init__(
        self,
        store: Path,
        *,
        isolation: str = "auto",
        nice: int = 0,
        parallel: int = 8,
        memory_mb: int = 1024,
        standby: int = 2,
        presealed: int = 2,
        origin: Origin | None = None,
    ) -> None:
        self.store = store
        self._isolation = isolation
        self._nice = nice
        self._standby = standby
        self._presealed = presealed
        self._origin: Origin | None = origin
        self._slots = asyncio.Semaphore(parallel)
        self._memory_bytes = (parallel * memory_mb + _TEMPLATE_MB) << 20
        self._pids = parallel * _PIDS_EACH + standby + KEYS_KEPT * presealed
        self._starting = asyncio.Lock()
        self._template: TemplateProcess | None = None
        self._pool: Pool | None = None
        self._tasks: OrderedDict[str, asyncio.Task[JobResult]] = OrderedDict()
        self._running: set[str] = set()
        self._cancelled: set[str] = set()
        self._sandboxes: dict[str, Sandbox] = {}
        self._refills: dict[Key, asyncio.Task[None]] = {}
        self._last_work = 0.0
        self._hurry = asyncio.Event()
        self._closed = False
        self._kept: deque[Sandbox] = deque()
        """Parsers of the one person who uses this process, between two of their texts."""

    async def start(self) -> Hello:
        """Find out what the host gives. Raises SandboxUnavailable. Called by the first job otherwise."""
        return (await self._ready())[0].hello

    async def _ready(self) -> tuple[TemplateProcess, Pool]:
        async with self._starting:
            if self._template is None or self._pool is None or not self._template.alive:
                if self._template is not None:
                    log.warning("sandbox template was lost, starting another")
                    await self._template.aclose()
                if self._pool is not None:
                    self._pool.close()
                self._template = await TemplateProcess.start(
                    self.store, isolation=self._isolation, nice=self._nice,
                    memory_bytes=self._memory_bytes, pids=self._pids,
                )  # fmt: skip
                self._pool = Pool(self._template, standby=self._standby, presealed=self._presealed)
            return self._template, self._pool

    async def submit(self, job: Job) -> None:
        if self._closed:
            raise SandboxUnavailable(
                "no job is taken: this executor is closed", suggestion="start the server again"
            )
        if job.id not in self._tasks:
            self._tasks[job.id] = asyncio.create_task(self._work(job), name=f"job {job.id}")
            while len(self._tasks) > _RESULTS_KEPT and next(iter(self._tasks.values())).done():
                self._tasks.popitem(last=False)

    async def result(self, job_id: str) -> JobResult:
        task = self._task(job_id)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                return JobResult(job_id=job_id, status="cancelled")
            raise

    async def status(self, job_id: str) -> JobStatus:
        task = self._tasks.get(job_id)
        if task is None:
            return "unknown"
        return "done" if task.done() else "running" if job_id in self._running else "pending"

    async def cancel(self, job_id: str) -> None:
        task = self._task(job_id)
        if task.done():
            return
        if job_id not in self._running:
            task.cancel()
        else:
            self._cancelled.add(job_id)
            if sandbox := self._sandboxes.get(job_id):
                sandbox.kill()

    def _task(self, job_id: str) -> asyncio.Task[JobResult]:
        task = self._tasks.get(job_id)
        if task is None:
            raise NotFound(
                f"no job {job_id!r} here", suggestion="it may have ended long ago; ask for the run instead"
            )
        return task

    async def _work(self, job: Job) -> JobResult:
        try:
            async with self._slots:
                self._running.add(job.id)
                result = await self._attempt(job)
                if result is None:
                    # The template itself was lost under the job. Jobs only read, so a second try is safe.
                    result = await self._attempt(job)
                return result or failed(
                    job, "RUNNER_INTERNAL_ERROR", "SandboxLost", "the sandbox was lost twice"
                )
        finally:
            self._running.discard(job.id)
            self._cancelled.discard(job.id)
            self._last_work = time.perf_counter()

    async def _attempt(self, job: Job) -> JobResult | None:
        _, pool = await self._ready()
        if job.id in self._cancelled:
            return JobResult(job_id=job.id, status="cancelled")
        started = time.perf_counter()
        sandbox, origin = self._take(pool, job)
        self._sandboxes[job.id] = sandbox
        result = None
        try:
            result = await self._converse(job, sandbox, origin)
        finally:
            del self._sandboxes[job.id]
            if keeps(job) and result is not None and result.status == "succeeded" and sandbox.alive:
                self._kept.append(sandbox)
            else:
                sandbox.dispose()
        if result is not None:
            total = (time.perf_counter() - started) * 1e3
            result = result.model_copy(update={"metrics": {**result.metrics, "total_ms": total}})
        if job.mode not in WRITES and origin != "kept":
            self._refill(pool, job)
        return result

    def _take(self, pool: Pool, job: Job) -> tuple[Sandbox, Origin]:
        while keeps(job) and self._kept:
            sandbox = self._kept.popleft()
            if sandbox.alive:
                return sandbox, "kept"
            sandbox.dispose()
        return pool.take(job, origin=self._origin)

    async def _converse(self, job: Job, sandbox: Sandbox, origin: Origin) -> JobResult | None:
        """None when the template was lost."""
        try:
            async with asyncio.timeout(job.limits.wall_ms / 1e3):
                await sandbox.send(_order(job))
                if origin == "fresh":
                    await sandbox.receive(_READY_BYTES)
                answer = await sandbox.receive(job.limits.result_bytes + _ANSWER_SLACK)
            return _read_answer(job, sandbox, answer)
        except TimeoutError:
            sandbox.kill()
            await self._see_end(sandbox)
            return self._unless_cancelled(job, timed_out(job))
        except Garbled as trouble:
            await self._see_end(sandbox)
            if (
                sandbox.ended.done()
                and sandbox.ended.result().status is None
                and job.id not in self._cancelled
            ):
                return None
            return self._unless_cancelled(job, explain_end(job, sandbox, str(trouble)))

    def _unless_cancelled(self, job: Job, result: JobResult) -> JobResult:
        return JobResult(job_id=job.id, status="cancelled") if job.id in self._cancelled else result

    async def _see_end(self, sandbox: Sandbox) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_GRACE_S):
                await asyncio.shield(sandbox.ended)

    def _refill(self, pool: Pool, job: Job) -> None:
        key = Key.of(job)
        if key not in self._refills:
            task = self._refills[key] = asyncio.create_task(self._refill_when_quiet(pool, job))
            task.add_done_callback(lambda _: self._refills.pop(key))

    async def _refill_when_quiet(self, pool: Pool, job: Job) -> None:
        """Whoever waits for an answer goes first. While many do, a sandbox that is forked when it is needed
        costs less in all than one that is made ready for later."""
        latest = time.perf_counter() + _REFILL_LATEST_S
        while (now := time.perf_counter()) < latest:
            quiet = 0.0 if self._running else now - self._last_work
            if quiet >= _QUIET_S:
                break
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_QUIET_S - quiet):
                    await self._hurry.wait()
                    break
        await pool.refill(job)

    async def warm(self, job: Job) -> None:
        """Have sandboxes presealed for jobs like this one before the first of them comes."""
        _, pool = await self._ready()
        pool.expect(Key.of(job))
        await pool.refill(job)

    async def settle(self) -> None:
        """Wait until the shelves are full again (for measuring)."""
        self._hurry.set()
        try:
            while self._refills:
                await asyncio.gather(*self._refills.values())
        finally:
            self._hurry.clear()

    async def aclose(self) -> None:
        self._closed = True
        for task in (*self._tasks.values(), *self._refills.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), *self._refills.values(), return_exceptions=True)
        if self._pool:
            self._pool.close()
        while self._kept:
            self._kept.popleft().dispose()
        if self._template:
            await self._template.aclose()


def keeps(job: Job) -> bool:
    """A parser may serve one person's texts in turn: one that was taken over could only deceive its owner."""
    return job.mode == "parse" and bool(job.options.get("keep"))


def _order(job: Job) -> dict[str, Any]:
    """The job as the runner reads it: the contract, plus where its data lies in the store."""
    limits = job.limits
    writing = job.mode in WRITES
    folder = f"versions/{job.dataset_version.removeprefix('sha256:')}" if job.dataset_version else None
    cell = {
        "folder": job.options["folder"] if writing else folder,
        "staging": job.options["staging"] if writing else None,
        "memory_mb": limits.memory_mb,
        "tmp_mb": limits.tmp_mb,
        "file_mb": job.options["file_mb"] if writing else limits.tmp_mb,
        "cpu_s": limits.cpu_s,
        "pids": limits.pids,
    }
    return {**job.model_dump(mode="json"), "cell": cell, "presealed": False}


def _read_answer(job: Job, sandbox: Sandbox, answer: dict[str, Any]) -> JobResult:
    try:
        result = JobResult.model_validate(
            {**answer, "job_id": job.id, "stderr": sandbox.output[: job.limits.log_bytes]}
        )
        breach = _breach(job, result)
    except ValidationError as error:
        result, breach = None, f"{error.error_count()} errors"
    if result is not None and breach is None:
        return result
    message = f"the sandbox's answer does not have the agreed form: {breach}"
    return failed(
        job, "RUNNER_INTERNAL_ERROR", "BadAnswer", message, "run it again; if it fails again, report the run"
    )


def _breach(job: Job, result: JobResult) -> str | None:
    """What the runner never does, but a sandbox that was taken over might."""
    if result.status == "cancelled":
        return "only the server cancels"
    if (result.status == "failed") != (result.error is not None) or (
        result.error is not None and result.rows
    ):
        return "its status and its error contradict each other"
    if len(result.rows) > job.limits.rows or result.row_count != len(result.rows):
        return f"{len(result.rows)} rows of {result.row_count}, where {job.limits.rows} are allowed"
    if any(len(row) != len(result.columns) for row in result.rows):
        return "a row that has not as many cells as there are columns"
    return None
