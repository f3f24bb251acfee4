"""DockerExecutor: every job in its own container, taken from a shelf where one waits for jobs like it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, Literal

import structlog

from sandtable.errors import InvalidInput, SandboxUnavailable
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.sandbox.docker.api import socket_path
from sandtable.sandbox.docker.container import Container, ContainerLost
from sandtable.sandbox.docker.engine import Engine, Wanted
from sandtable.sandbox.docker.hardening import Size, mounts_of
from sandtable.sandbox.executor import Abilities, Hello, JobStatus, Kind
from sandtable.sandbox.job import CODE, MODES, WRITES, Job, JobResult, Limits
from sandtable.sandbox.jobs import Jobs
from sandtable.sandbox.key import PresealKey, unsealed
from sandtable.sandbox.outcome import failed
from sandtable.sandbox.shelves import Refills, Shelves
from sandtable.sandbox.wire import order_of
from sandtable.settings import Settings

_KEYS_KEPT = 4
"""Kinds of jobs that have waiting containers: each takes as much memory as the runner itself."""
_QUIET_S = 0.1
_REFILLS = 2
"""Shelves filled at a time: one with Python's libraries takes long, and should not hold up the others."""
_RESTART_S = 10.0
"""How long to wait for an engine that is restarted during a job."""
_LOST = "the container engine went away while a container started"
_LOST_ADVICE = "Look at the container engine's log; the next run tries again"

Shelf = tuple[Kind, PresealKey]
log = structlog.get_logger(__name__)


class DockerExecutor:
    abilities = Abilities("docker", MODES - {"session"}, grace_s=30.0)
    name = abilities.name

    def __init__(
        self,
        store: Path,
        *,
        image: str,
        host: str | None = None,
        runtime: str | None = None,
        warm: int = 2,
        parallel: int = 8,
        memory_mb: int = 1024,
        data: Literal["bind", "baked"] = "bind",
        tracer: Tracer = UNOBSERVED.tracer,
    ) -> None:
        """`host`: as in DOCKER_HOST. `warm`: waiting containers for each recent kind of job. `memory_mb`: of most jobs.
        `data`: a job's dataset is mounted into its container (`bind`), or is part of the image."""
        self.store = store
        self._mounted = str(store.absolute()) if data == "bind" else None
        self._engine = Engine(socket_path(host), image=image, runtime=runtime, store=str(store.absolute()))
        self._warm_target = warm
        self._usual = Limits(memory_mb=memory_mb)
        self._tracer = tracer
        self._jobs = Jobs(self._work, parallel, tracer=tracer)
        self._shelves: Shelves[Shelf, Container] = Shelves(_KEYS_KEPT, _outdates)
        self._refills: Refills[Shelf] = Refills()
        self._refilling = asyncio.Semaphore(_REFILLS)
        self._hellos: dict[Kind, Hello] = {}
        self._closed = False

    @classmethod
    def configured(
        cls, settings: Settings, store: Path, tracer: Tracer = UNOBSERVED.tracer
    ) -> DockerExecutor:
        return cls(
            store,
            image=settings.docker_image,
            host=settings.docker_host,
            runtime=settings.docker_runtime,
            warm=settings.docker_warm,
            parallel=settings.places,
            memory_mb=settings.memory_mb,
            data=settings.docker_data,
            tracer=tracer,
        )

    @property
    def instance(self) -> str:
        """Label of its containers."""
        return self._engine.owner.instance

    async def start(self, kind: Kind = "sql") -> Hello:
        """Query the engine and start one container. Raises SandboxUnavailable."""
        if kind not in self._hellos:
            try:
                self._hellos[kind] = await self._say_hello(kind)
            except ContainerLost as lost:
                raise lost.trouble or SandboxUnavailable(_LOST, suggestion=_LOST_ADVICE) from lost
        return self._hellos[kind]

    async def _say_hello(self, kind: Kind) -> Hello:
        facts = await self._engine.facts()
        job = Job(id="", mode="python" if kind == "py" else "parse", limits=self._usual)
        container = await self._launch(job, run=None)
        container.dispose()
        ready = container.ready
        layers = dict.fromkeys((*facts.layers, *ready.layers))
        return Hello(ready.engine, tuple(layers), (*facts.reasons, *ready.reasons))

    async def submit(self, job: Job) -> None:
        self.abilities.require(job)
        self._jobs.submit(job)

    async def result(self, job_id: str) -> JobResult:
        return await self._jobs.result(job_id)

    async def status(self, job_id: str) -> JobStatus:
        return self._jobs.status(job_id)

    async def cancel(self, job_id: str) -> None:
        self._jobs.cancel(job_id)

    async def warm(self, job: Job) -> None:
        """Have containers ready for jobs like this one before the first of them comes."""
        self._shelves.expect(_shelf_of(job))
        await asyncio.shield(self._refilled(job, 0.0))

    async def settle(self) -> None:
        """Wait until the shelves are full again (for measuring)."""
        await self._refills.settle()

    async def aclose(self) -> None:
        self._closed = True
        await self._refills.aclose()
        await self._jobs.aclose()
        self._shelves.close()
        await self._engine.aclose()

    async def _work(self, job: Job) -> JobResult:
        try:
            return await self._attempt(job)
        except ContainerLost:
            # The engine itself went away during the job. Jobs only read, so a second attempt is safe.
            log.warning("container_lost", job=job.id)
            await self._engine.back(_RESTART_S)
        try:
            return await self._attempt(job)
        except ContainerLost as lost:
            if lost.trouble is not None:
                raise lost.trouble from lost
            return failed(
                job, "RUNNER_INTERNAL_ERROR", "SandboxLost", "the container was lost twice", _LOST_ADVICE
            )

    async def _attempt(self, job: Job) -> JobResult:
        started = time.perf_counter()
        container = None if job.mode in WRITES else self._shelves.take(_shelf_of(job))
        if container is None:
            container = await self._launch(job, run=job.id)
        try:
            result = await container.serve(job, self._tracer)
        finally:
            container.dispose()
            if job.mode not in WRITES and not self._closed:
                self._refilled(job, _QUIET_S)
        total = (time.perf_counter() - started) * 1e3
        return result.model_copy(update={"metrics": {**result.metrics, "total_ms": total}})

    async def _launch(self, job: Job, *, run: str | None) -> Container:
        limits, cell = job.limits, order_of(job)["cell"]
        kind, key = _shelf_of(job)
        try:
            mounts = mounts_of(self._mounted, cell["folder"], cell["staging"])
        except ValueError as error:
            raise InvalidInput(f"this job cannot run in a container: {error}") from error
        wanted = Wanted(
            kind=kind,
            size=Size(limits.memory_mb, limits.tmp_mb, limits.pids, job.threads),
            mounts=mounts,
            ready=_readiness(kind, key, job),
            run=run,
            # One that will wait for a job is no part of the question that caused it.
            tracer=self._tracer if run is not None else UNOBSERVED.tracer,
        )
        return await self._engine.container(wanted)

    def _refilled(self, job: Job, quiet_s: float) -> asyncio.Task[None]:
        """The one task that fills the shelf of jobs like this one. Runs take precedence."""
        return self._refills.start(_shelf_of(job), lambda: self._refill(job, quiet_s))

    async def _refill(self, job: Job, quiet_s: float) -> None:
        async def make() -> Container | None:
            try:
                return None if self._closed else await self._launch(job, run=None)
            except (SandboxUnavailable, ContainerLost) as error:
                # The next job of this kind fails in the same way and reports it.
                log.warning("container_not_warmed", reason=str(error))
                return None

        await asyncio.sleep(quiet_s)
        async with self._refilling:
            await self._shelves.fill(_shelf_of(job), self._warm_target, make)


def _outdates(shelf: Shelf, other: Shelf) -> bool:
    return shelf[1].outdates(other[1])


def _shelf_of(job: Job) -> Shelf:
    return ("py" if job.mode in CODE else "sql"), PresealKey.of(job)


def _readiness(kind: Kind, key: PresealKey, job: Job) -> dict[str, Any]:
    """How the container waits for its job: bound to its data and sealed, where that can be done in advance."""
    if job.mode in WRITES:
        return {}
    return unsealed(key.tmp_mb, key.memory_mb, warm=True) if kind == "py" else key.order()
