"""The executor interface. A tier is one class with these methods, which declares its abilities; all tiers pass
`tests/sandbox/conformance`."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from sandtable.errors import InvalidInput, SandtableError
from sandtable.observing import Tracer
from sandtable.sandbox.job import WRITES, Job, JobResult, Mode
from sandtable.settings import Settings

JobStatus = Literal["unknown", "pending", "running", "done"]
Kind = Literal["sql", "py", "jupyter"]
"""What a sandbox has loaded: the engine alone, Python's libraries, or a Jupyter kernel besides."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a tier can do: declared by its executor's class, read where a tier is chosen."""

    name: str
    """The tier's name in settings and in capsules."""
    modes: frozenset[Mode]
    """Modes of the jobs that it accepts."""
    grace_s: float
    """Time allowed beside the run itself, whose clock starts when its sandbox has started."""

    @property
    def handles_files(self) -> bool:
        """Whether texts can be parsed and files converted here, so that a server needs no local sandbox for that."""
        return WRITES | {"parse", "profile"} <= self.modes

    def require(self, job: Job) -> None:
        """Raises InvalidInput for a job of a mode that is not declared."""
        if job.mode not in self.modes:
            raise InvalidInput(
                f"the backend `{self.name}` takes no jobs of mode {job.mode!r}",
                suggestion="Use the local sandbox, which writes files and keeps sessions.",
            )


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
    """Process id of the template, where the tier has one."""


class Executor(Protocol):
    name: str
    """`local`, `docker`, `kubernetes`, `remote`, `fake`: recorded in the capsule."""

    async def submit(self, job: Job) -> None:
        """Accept the job. Returns once it is accepted; submitting the same id again is a no-op."""
        ...

    async def result(self, job_id: str) -> JobResult:
        """Wait for the job's end. Every outcome, a crash included, is a JobResult; unknown ids raise NotFound."""
        ...

    async def status(self, job_id: str) -> JobStatus: ...

    async def cancel(self, job_id: str) -> None:
        """Kill it now. `result` then returns `cancelled`, unless the job had already ended."""
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
        """Check that jobs can run here. Raises SandboxUnavailable. Otherwise called by the first job."""
        ...

    async def warm(self, job: Job) -> None:
        """Prepare sandboxes for jobs like this one, where this tier can."""
        ...


class TierClass(Protocol):
    """The class of a tier that a setting can choose."""

    abilities: Abilities

    def configured(self, settings: Settings, store: Path, tracer: Tracer) -> Tier:
        """A class method. Raises InvalidInput when a setting is missing or wrong."""
        ...
