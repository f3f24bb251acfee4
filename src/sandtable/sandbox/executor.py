"""The sandbox seam. A tier is one class with these methods; `tests/sandbox/conformance` holds for all."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Literal, Protocol

from sandtable.errors import SandtableError
from sandtable.sandbox.job import Job, JobResult

JobStatus = Literal["unknown", "pending", "running", "done"]
Kind = Literal["sql", "py", "jupyter"]
"""What a sandbox has loaded: the engine alone, Python's libraries, or a Jupyter kernel besides."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a tier found when it started."""

    engine: str
    """Such as `duckdb 2.0.0`."""
    layers: tuple[str, ...]
    """What isolates a job here: recorded in the capsule."""
    reasons: tuple[str, ...] = ()
    """Why a stronger isolation is not used."""
    pid: int = 0
    """Of the template process, where the tier has one."""


class Executor(Protocol):
    name: str
    """`local`, `docker`, `kubernetes`, `remote`, `fake`: recorded in the capsule."""

    async def submit(self, job: Job) -> None:
        """Take the job. Returns once it is accepted; submitting the same id again is a no-op."""
        ...

    async def result(self, job_id: str) -> JobResult:
        """Wait for the job's end. Every outcome, a crash included, is a JobResult; unknown ids raise NotFound."""
        ...

    async def status(self, job_id: str) -> JobStatus: ...

    async def cancel(self, job_id: str) -> None:
        """Kill it now. `result` then answers `cancelled`, unless the job had already ended."""
        ...

    async def aclose(self) -> None:
        """End every sandbox this executor started."""
        ...


async def executed(executor: Executor, job: Job) -> JobResult:
    """Submit a job and wait for its end. The job is killed when the caller is cancelled."""
    await executor.submit(job)
    try:
        return await executor.result(job.id)
    except asyncio.CancelledError:
        with contextlib.suppress(SandtableError):
            await executor.cancel(job.id)
        raise


class Tier(Executor, Protocol):
    """An executor that a server can be set up with."""

    async def start(self, kind: Kind = "sql") -> Hello:
        """Find out whether jobs can run here. Raises SandboxUnavailable. Called by the first job otherwise."""
        ...

    async def warm(self, job: Job) -> None:
        """Jobs like this one will come: have sandboxes ready for them, where this tier can."""
        ...
