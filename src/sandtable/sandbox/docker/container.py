"""The life of one container: created, started, ready, given its one job, removed.

Invariant: it serves at most one job, and it is always killed and removed.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import structlog
from pydantic import ValidationError

from sandtable.errors import SandboxUnavailable
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.sandbox.docker.api import Api, EngineAway, EngineRefused
from sandtable.sandbox.docker.streams import Streams
from sandtable.sandbox.docker.trouble import not_ready
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.outcome import Ended, explain_end, failed, timed_out
from sandtable.sandbox.report import Ready, RunnerReport, Unavailable, result_of
from sandtable.sandbox.wire import order_of

READY_S = 120.0
_LINE_SLACK = 2 << 20
_ESCAPED = 6
"""Bytes that one byte of the answer may need in a line of ASCII."""
_LATE_S = 5.0
"""The runner enforces the wall clock itself; a runner that fails to is killed from here after this long."""
_EXIT_S = 2.0
_LOOKS, _LOOK_S = 6, 0.1
_KILLED = 128 + signal.SIGKILL
_NOT_FOUND, _CONFLICT = 404, 409
_REMOVED_S = 10.0

log = structlog.get_logger(__name__)
Later = Callable[[Coroutine[Any, Any, None]], None]
"""Runs a coroutine in the background."""


class ContainerLost(Exception):
    """Container and engine are both gone, so the cause is unknown. `trouble` is raised if the engine stays away."""

    def __init__(self, trouble: SandboxUnavailable | None = None) -> None:
        super().__init__(trouble.message if trouble else "the container was lost")
        self.trouble = trouble


@dataclass(slots=True)
class Container:
    api: Api
    name: str
    nonce: str
    streams: Streams
    exit: asyncio.Task[int | None]
    later: Later
    starting: asyncio.Task[None]
    ready: Ready = field(default_factory=lambda: Ready(kind="ready", engine="", layers=()))
    disposed: bool = False

    @classmethod
    async def launch(
        cls, api: Api, specification: dict[str, Any], *, nonce: str, later: Later, tracer: Tracer
    ) -> Container:
        """Returns once it was started. Raises EngineAway and EngineRefused."""
        # Chosen here, so that it can be removed even if the answer to its creation is lost.
        name = f"sandtable-{nonce[:16]}"
        making = asyncio.create_task(
            api.call("POST", "/containers/create", body=specification, name=name), name="container create"
        )
        try:
            with tracer.span("container.create"):
                await asyncio.shield(making)
                streams = Streams(await api.attach(name))
        except BaseException:
            later(_remove(api, name, after=making))
            raise
        watch = asyncio.create_task(_exit_code(api, name), name="container exit")
        starting = asyncio.create_task(api.call("POST", f"/containers/{name}/start"), name="container start")
        container = cls(api, name, nonce, streams, watch, later, starting)
        try:
            with tracer.span("container.start"):
                await asyncio.shield(starting)
        except BaseException:
            container.dispose()
            raise
        return container

    @property
    def alive(self) -> bool:
        return self.streams.open and not self.disposed and not self.exit.done()

    async def get_ready(self) -> Ready:
        """Raises SandboxUnavailable with the runner's message, and ContainerLost."""
        try:
            async with asyncio.timeout(READY_S):
                while (message := await self.streams.next_message()) is not None:
                    if message.get("kind") == "ready":
                        self.ready = Ready.model_validate(message)
                        return self.ready
                    if message.get("kind") == "unavailable":
                        found = Unavailable.model_validate(message)
                        raise not_ready(found.message, found.reasons)
                code = await self._exit_code()
        except TimeoutError:
            raise not_ready(f"it was silent for {READY_S:g} s") from None
        except ValidationError as error:
            raise not_ready(
                f"runner protocol mismatch ({error.error_count()} errors); is the image from another version?"
            ) from error
        if code is None:
            raise ContainerLost
        said = self.streams.errors.strip().splitlines()
        raise not_ready(f"it ended with code {code}" + (f": {said[-1]}" if said else ""))

    async def serve(self, job: Job, tracer: Tracer = UNOBSERVED.tracer) -> JobResult:
        """Raises ContainerLost."""
        began = time.time()
        try:
            return await self._served(job)
        finally:
            ended, answering = time.time(), self.streams.message_began
            if began <= answering <= ended:
                tracer.passed("container.run", began, answering)
                tracer.passed("container.collect", answering, ended)
            else:
                tracer.passed("container.run", began, ended)

    async def _served(self, job: Job) -> JobResult:
        self.streams.most_bytes = job.limits.result_bytes * _ESCAPED + _LINE_SLACK
        try:
            async with asyncio.timeout(job.limits.wall_ms / 1e3 + _LATE_S):
                await self.streams.send(order_of(job))
                while (message := await self.streams.next_message()) is not None:
                    if message.get("kind") != "ready":
                        return self._read(job, message)
        except TimeoutError:
            return timed_out(job)
        code = await self._exit_code()
        if code is None:
            raise ContainerLost
        # Any other code is the supervisor's: the child's would be in a report.
        ended = Ended(int(signal.SIGKILL)) if code == _KILLED else None
        trouble = f"the container ended with code {code} before it answered"
        return explain_end(job, ended, self.streams.errors, trouble)

    def _read(self, job: Job, message: dict[str, Any]) -> JobResult:
        try:
            report = RunnerReport.model_validate(message)
        except ValidationError as error:
            what = f"the container's report does not have the agreed form: {error.error_count()} errors"
        else:
            if report.nonce == self.nonce:
                return result_of(job, report)
            what = "the container's report is that of another one"
        return failed(
            job, "RUNNER_INTERNAL_ERROR", "BadAnswer", what, "run it again; if it fails again, report the run"
        )

    async def _exit_code(self) -> int | None:
        """None when the engine went away: containers that it ended while stopping were not ended by the job."""
        try:
            async with asyncio.timeout(_EXIT_S):
                code = await asyncio.shield(self.exit)
        except TimeoutError:
            return None
        if code == _KILLED and await self._engine_leaves():
            return None
        return code

    async def _engine_leaves(self) -> bool:
        for _ in range(_LOOKS):
            try:
                await self.api.get("/_ping")
            except (EngineAway, EngineRefused):
                return True
            await asyncio.sleep(_LOOK_S)
        return False

    def dispose(self) -> None:
        """May be called more than once. Returns before the container is gone."""
        if not self.disposed:
            self.disposed = True
            self.exit.cancel()
            self.later(self._end())

    async def _end(self) -> None:
        await asyncio.gather(self.streams.aclose(), self.exit, return_exceptions=True)
        await _remove(self.api, self.name, after=self.starting)


async def _exit_code(api: Api, name: str) -> int | None:
    """None when the engine went away before it answered."""
    try:
        ended = await api.call("POST", f"/containers/{name}/wait", condition="next-exit", within_s=None)
        return int(ended["StatusCode"])
    except (EngineAway, EngineRefused, KeyError, TypeError, ValueError):
        return None


async def _remove(api: Api, name: str, *, after: asyncio.Task[Any]) -> None:
    """Kill and remove it. `after`: a pending call about it; a removal that overtakes that call would find nothing."""
    await asyncio.gather(after, return_exceptions=True)
    try:
        await api.call("DELETE", f"/containers/{name}", force="true", v="true")
    except EngineRefused as refused:
        if refused.status == _CONFLICT:
            # The engine is already removing it, because its input ended.
            await _until_removed(api, name)
        elif refused.status != _NOT_FOUND:
            log.warning("container_not_removed", container=name, reason=refused.message)
    except EngineAway as away:
        # It ends by itself when its input does; the next start removes leftovers.
        log.warning("container_not_removed", container=name, reason=str(away))


async def _until_removed(api: Api, name: str) -> None:
    try:
        await api.call("POST", f"/containers/{name}/wait", condition="removed", within_s=_REMOVED_S)
    except EngineRefused as refused:
        if refused.status != _NOT_FOUND:
            log.warning("container_not_removed", container=name, reason=refused.message)
    except EngineAway as away:
        log.warning("container_not_removed", container=name, reason=str(away))
