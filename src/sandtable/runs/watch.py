"""Waiting with a hard timeout: a sandbox or a gate that hangs cannot block a run.

`asyncio.wait_for` also waits for the cancelled task, and so trusts it to end; this does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Final, Literal, TypeVar

import structlog

from sandtable.errors import ErrorCode, SandboxUnavailable, SandtableError
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.job import Job, JobError, JobResult

T = TypeVar("T")

KILL_S = 5.0

log = structlog.get_logger(__name__)


class _Hung(Enum):
    HUNG = "hung"


HUNG: Final = _Hung.HUNG


async def bounded(work: Awaitable[T], seconds: float) -> T | Literal[_Hung.HUNG]:
    task = asyncio.ensure_future(work)
    task.add_done_callback(retrieve)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if done:
        return task.result()
    task.cancel()
    return HUNG


async def run_watched(executor: Executor, job: Job, grace_s: float) -> JobResult:
    limit = job.limits.wall_ms / 1000 + grace_s
    try:
        result = await bounded(_submit_and_wait(executor, job), limit)
    except asyncio.CancelledError:
        await _kill(executor, job.id)
        raise
    if result is not HUNG:
        return result
    await _kill(executor, job.id)
    error = JobError(
        code=ErrorCode.RUNNER_TIMEOUT,
        type="Watchdog",
        message=f"the sandbox did not answer within {limit:g} s and was given up",
        suggestion="Run it again; `sandtable doctor` tells whether the sandbox is in order.",
    )
    return JobResult(job_id=job.id, status="failed", error=error)


async def wait_ready(ready: Callable[[], Awaitable[object]] | None, seconds: float) -> None:
    """Called before a run's clock starts: the first sandbox for code takes longer than many a run. Raises
    SandboxUnavailable."""
    if ready is not None and await bounded(ready(), seconds) is HUNG:
        raise SandboxUnavailable(
            f"the sandbox for Python did not start within {seconds:g} s",
            suggestion="Run it again when the machine is less busy.",
        )


async def _submit_and_wait(executor: Executor, job: Job) -> JobResult:
    await executor.submit(job)
    return await executor.result(job.id)


async def _kill(executor: Executor, job_id: str) -> None:
    try:
        if await bounded(executor.cancel(job_id), KILL_S) is HUNG:
            log.error("sandbox_kill_hung", job_id=job_id)
    except SandtableError as error:
        log.warning("sandbox_kill_failed", job_id=job_id, reason=error.message)


def retrieve(task: asyncio.Future[T]) -> None:
    """Retrieves the outcome of an abandoned task, so that asyncio does not log it as unhandled."""
    if not task.cancelled():
        task.exception()
