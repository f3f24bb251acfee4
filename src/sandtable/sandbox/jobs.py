"""The jobs of a tier: their ids, their slots, their results.

Invariant: submitting a job is idempotent: it runs once and ends once, and every caller gets the same result.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from sandtable.errors import NotFound, SandboxUnavailable
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.sandbox.executor import JobStatus
from sandtable.sandbox.job import Job, JobResult

_RESULTS_KEPT = 64


class Jobs:
    def __init__(
        self,
        work: Callable[[Job], Awaitable[JobResult]],
        parallel: int,
        *,
        kill: Callable[[str], None] | None = None,
        tracer: Tracer = UNOBSERVED.tracer,
    ) -> None:
        """`work` runs a job that has got a slot. Cancelling the job cancels `work`; if `kill` is given, it is called
        with the job's id instead, and `work` itself returns `cancelled`."""
        self._work = work
        self._kill = kill
        self._tracer = tracer
        self.places = asyncio.Semaphore(parallel)
        self.running: set[str] = set()
        self._tasks: OrderedDict[str, asyncio.Task[JobResult]] = OrderedDict()
        self._closed = False

    def submit(self, job: Job) -> None:
        self.refuse_when_closed()
        if job.id not in self._tasks:
            self._tasks[job.id] = asyncio.create_task(self._in_its_place(job), name=f"job {job.id}")
            while len(self._tasks) > _RESULTS_KEPT and next(iter(self._tasks.values())).done():
                self._tasks.popitem(last=False)

    def refuse_when_closed(self) -> None:
        if self._closed:
            raise SandboxUnavailable(
                "no job is taken: this executor is closed", suggestion="Start the server again"
            )

    async def _in_its_place(self, job: Job) -> JobResult:
        with self._tracer.span("sandbox.queue"):
            await self.places.acquire()
        try:
            self.running.add(job.id)
            return await self._work(job)
        finally:
            self.running.discard(job.id)
            self.places.release()

    async def result(self, job_id: str) -> JobResult:
        task = self._task(job_id)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                return JobResult(job_id=job_id, status="cancelled")
            raise

    def status(self, job_id: str) -> JobStatus:
        task = self._tasks.get(job_id)
        if task is None:
            return "unknown"
        return "done" if task.done() else "running" if job_id in self.running else "pending"

    def cancel(self, job_id: str) -> None:
        task = self._task(job_id)
        if task.done():
            return
        if self._kill is None or job_id not in self.running:
            task.cancel()
        else:
            self._kill(job_id)

    def _task(self, job_id: str) -> asyncio.Task[JobResult]:
        task = self._tasks.get(job_id)
        if task is None:
            raise NotFound(
                f"no job {job_id!r} here",
                suggestion="Ask for the run instead: the job may have ended long ago",
            )
        return task

    async def aclose(self) -> None:
        """Accepts no more jobs, and ends running ones."""
        self._closed = True
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
