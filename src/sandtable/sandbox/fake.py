"""An in-memory Executor that follows a script: results by text, delays, failures, crashes, hangs.

For tests of everything above the sandbox. It isolates nothing and runs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandtable.errors import ErrorCode, NotFound
from sandtable.sandbox.executor import JobStatus
from sandtable.sandbox.job import Job, JobError, JobResult, Limits, ResultColumn


@dataclass(frozen=True, slots=True)
class Script:
    """What happens to a job with a given text."""

    columns: Sequence[tuple[str, str]] = (("answer", "INTEGER"),)
    rows: Sequence[Sequence[Any]] = ((42,),)
    delay_s: float = 0.0
    """If longer than the limit, the job times out."""
    cpu_ms: float | None = None
    """Reported for a job that timed out."""
    error: JobError | None = None
    raises: Exception | None = None
    """Raised by `result`, as if the machinery broke."""
    deaf: bool = False
    """Never answers, not even after `cancel`."""
    output: dict[str, Any] = field(default_factory=dict)
    stdout: str = ""
    stderr: str = ""
    kills: bool = False
    """This cell kills its session."""


class FakeExecutor:
    name = "fake"

    def __init__(self, default: Script | None = None) -> None:
        self._default = default or Script()
        self._scripts: dict[str, Script] = {}
        self._tasks: dict[str, asyncio.Task[JobResult]] = {}
        self._deaf: set[str] = set()
        self._running = 0
        self._changed = asyncio.Condition()
        self.jobs: list[Job] = []
        """Every accepted job, in order."""
        self.cancelled: list[str] = []
        self.sessions: list[FakeSession] = []
        """Every session opened, in order."""
        self.peak = 0
        """Most jobs that ran at the same time."""

    def on(self, text: str, script: Script) -> None:
        self._scripts[text] = script

    async def open_session(self, job: Job) -> FakeSession:
        """Implements `sandbox.session.SessionHost`. Its cells follow the scripts by their code."""
        self.sessions.append(FakeSession(job, self))
        return self.sessions[-1]

    def script_of(self, text: str) -> Script:
        return self._scripts.get(text, self._default)

    async def submit(self, job: Job) -> None:
        if job.id in self._tasks:
            return
        self._tasks[job.id] = asyncio.create_task(self._play(job))
        async with self._changed:
            self.jobs.append(job)
            self._changed.notify_all()

    async def taken(self, count: int = 1) -> None:
        """Wait until this many jobs were accepted."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.jobs) >= count)

    async def result(self, job_id: str) -> JobResult:
        return await asyncio.shield(self._task(job_id))

    async def status(self, job_id: str) -> JobStatus:
        task = self._tasks.get(job_id)
        return "unknown" if task is None else "done" if task.done() else "running"

    async def cancel(self, job_id: str) -> None:
        task = self._task(job_id)
        self.cancelled.append(job_id)
        if not task.done() and job_id not in self._deaf:
            task.cancel()

    async def aclose(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _task(self, job_id: str) -> asyncio.Task[JobResult]:
        try:
            return self._tasks[job_id]
        except KeyError:
            raise NotFound(f"no job {job_id!r}") from None

    async def _play(self, job: Job) -> JobResult:
        script = self.script_of(job.text)
        if script.deaf:
            self._deaf.add(job.id)
        self._running += 1
        self.peak = max(self.peak, self._running)
        try:
            return await _act(job, script)
        except asyncio.CancelledError:
            return JobResult(job_id=job.id, status="cancelled")
        finally:
            self._running -= 1


class FakeSession:
    """Implements `sandbox.session.Session`. A deaf cell cannot be interrupted: it kills the session."""

    def __init__(self, job: Job, host: FakeExecutor) -> None:
        self.job = job
        self.alive = True
        self.cells: list[str] = []
        """The code of every cell, in order."""
        self._host = host
        self._one = asyncio.Lock()
        self._running: asyncio.Task[JobResult] | None = None

    async def cell(
        self,
        code: str,
        *,
        seed: int = 0,
        timeout_ms: int | None = None,
        limits: Limits | None = None,
        names: Mapping[str, str] | None = None,
    ) -> JobResult:
        async with self._one:
            self.cells.append(code)
            given = limits or self.job.limits
            if timeout_ms is not None:
                given = given.model_copy(update={"wall_ms": timeout_ms})
            options = {**self.job.options, "seed": seed, "names": dict(names or {})}
            update = {
                "id": f"{self.job.id}.{len(self.cells)}",
                "text": code,
                "limits": given,
                "options": options,
            }
            return await self._run(self.job.model_copy(update=update))

    async def _run(self, job: Job) -> JobResult:
        if not self.alive:
            return _failed(
                job, JobError(code=ErrorCode.RUNNER_INTERNAL_ERROR, type="SessionLost", message="ended")
            )
        script = self._host.script_of(job.text)
        if script.deaf or script.kills:
            self.alive = False
        if script.deaf:
            return _failed(job, JobError(code=ErrorCode.RUNNER_TIMEOUT, type="Timeout", message="timed out"))
        self._running = asyncio.create_task(_act(job, script))
        try:
            result = await self._running
        except asyncio.CancelledError:
            if not self._running.cancelled():
                raise
            result = _failed(job, _INTERRUPTED)
        if result.error is not None and result.error.type == "Timeout":
            return _failed(job, _INTERRUPTED)
        return result

    def interrupt(self) -> None:
        if self._running is not None:
            self._running.cancel()

    async def aclose(self) -> None:
        self.alive = False
        self.interrupt()


_INTERRUPTED = JobError(code=ErrorCode.RUNNER_TIMEOUT, type="Interrupted", message="the code was interrupted")


async def _act(job: Job, script: Script) -> JobResult:
    if script.deaf:
        await asyncio.Event().wait()
    limit = job.limits.wall_ms / 1000
    await asyncio.sleep(min(script.delay_s, limit))
    if script.raises is not None:
        raise script.raises
    if script.delay_s > limit:
        result = _failed(job, JobError(code=ErrorCode.RUNNER_TIMEOUT, type="Timeout", message="timed out"))
        used = {} if script.cpu_ms is None else {"cpu_ms": script.cpu_ms}
        return result.model_copy(update={"metrics": used})
    if script.error is not None:
        return _failed(job, script.error, script)
    rows = tuple(tuple(row) for row in script.rows)
    kept = rows[: job.limits.rows]
    return JobResult(
        job_id=job.id,
        status="succeeded",
        columns=tuple(ResultColumn(name=name, type=kind) for name, kind in script.columns),
        rows=kept,
        row_count=len(kept),
        truncated=len(kept) < len(rows),
        exec_time_ms=script.delay_s * 1000,
        output=script.output,
        stdout=script.stdout,
        stderr=script.stderr,
    )


def _failed(job: Job, error: JobError, script: Script | None = None) -> JobResult:
    printed = (
        {} if script is None else {"stdout": script.stdout, "stderr": script.stderr, "output": script.output}
    )
    return JobResult(job_id=job.id, status="failed", error=error, **printed)
