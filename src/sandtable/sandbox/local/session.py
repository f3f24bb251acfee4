"""A session in its own sandbox: many cells, one process, the state kept in it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any

from sandtable.errors import InvalidInput, RunnerBroken
from sandtable.sandbox.job import Job, JobError, JobResult, Limits
from sandtable.sandbox.local.sandbox import UNASKED, Garbled, Sandbox
from sandtable.sandbox.outcome import explain_end, failed, timed_out
from sandtable.sandbox.wire import order_of, read_answer

GRACE_S = 2.0
"""How long interrupted code may take to stop."""
_AGAIN_S = 0.1
_END_GRACE_S = 1.0
_OPEN_S = 20.0
_READY_BYTES = 4096
_ANSWER_SLACK = 1 << 20


class LocalSession:
    """Implements `sandbox.session.Session`."""

    def __init__(
        self, job: Job, sandbox: Sandbox, slots: asyncio.Semaphore, forget: Callable[[LocalSession], None]
    ) -> None:
        self._job = job
        self._sandbox = sandbox
        self._slots = slots
        self._forget = forget
        self._count = 0
        self._one = asyncio.Lock()
        self._stop: asyncio.Event | None = None
        self._working: set[asyncio.Task[JobResult]] = set()
        self._dead = False

    @property
    def alive(self) -> bool:
        return not self._dead and self._sandbox.alive

    async def open(self, *, fresh: bool) -> bool:
        """Seal it and wait until it is ready. False when its template was lost. Raises RunnerBroken."""
        try:
            async with asyncio.timeout(_OPEN_S):
                await self._sandbox.send(order_of(self._job))
                for _ in range(2 if fresh else 1):
                    await self._sandbox.receive(_READY_BYTES)
            return True
        except (Garbled, TimeoutError) as trouble:
            await self._see_end()
            ended = self._sandbox.ended
            lost = ended.done() and ended.result().status is None
            output = self._sandbox.output
            self._die()
            if lost:
                return False
            raise RunnerBroken(
                f"the session did not start: {trouble or 'it took too long'}",
                suggestion="Try again; if it fails again, run `sandtable doctor`",
                stderr=output[-4000:],
            ) from trouble
        except BaseException:
            self._die()
            raise

    async def cell(
        self,
        code: str,
        *,
        seed: int = 0,
        timeout_ms: int | None = None,
        limits: Limits | None = None,
        names: Mapping[str, str] | None = None,
    ) -> JobResult:
        if timeout_ms is not None and timeout_ms < 1:
            raise InvalidInput("a cell needs at least 1 ms", suggestion="Give a larger timeout")
        self._count += 1
        given = limits or self._job.limits
        if timeout_ms is not None:
            given = given.model_copy(update={"wall_ms": timeout_ms})
        changes = {"id": f"{self._job.id}.{self._count}", "text": code, "limits": given}
        message = {
            "code": code,
            "seed": seed,
            "limits": given.model_dump(mode="json"),
            "names": dict(self._job.options.get("names") or {}) | dict(names or {}),
        }
        stop = asyncio.Event()
        task = asyncio.create_task(self._work(self._job.model_copy(update=changes), message, stop))
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # The caller no longer waits for it; the session's state is kept.
            stop.set()
            raise

    async def _work(self, job: Job, message: dict[str, Any], stop: asyncio.Event) -> JobResult:
        async with self._one, self._slots:
            if stop.is_set():
                return JobResult(job_id=job.id, status="cancelled")
            if not self.alive:
                self._die()
                return failed(
                    job, "RUNNER_INTERNAL_ERROR", "SessionLost", "the session has ended and its variables with it",
                    "open another session",
                )  # fmt: skip
            self._stop = stop
            try:
                return await self._converse(job, message, stop)
            except BaseException:
                self._die()
                raise
            finally:
                self._stop = None

    async def _converse(self, job: Job, message: dict[str, Any], stop: asyncio.Event) -> JobResult:
        self._sandbox.forget_output()
        answer = asyncio.ensure_future(self._ask(job, message))
        stopped = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait(
                {answer, stopped}, timeout=job.limits.wall_ms / 1e3, return_when=asyncio.FIRST_COMPLETED
            )
            late = not answer.done() and not stop.is_set()
            if not answer.done() and not await self._interrupted(answer):
                return await self._kill(job)
            result = read_answer(job, answer.result(), self._sandbox.output)
            if result.error is not None and result.error.type == "BadAnswer":
                self._die()
            return _saying_the_limit(job, result) if late else result
        except Garbled as trouble:
            await self._see_end()
            result = explain_end(job, self._sandbox.end, self._sandbox.output, str(trouble))
            self._die()
            return _with_loss(result)
        finally:
            for task in (answer, stopped):
                task.cancel()
            await asyncio.gather(answer, stopped, return_exceptions=True)

    async def _interrupted(self, answer: asyncio.Future[dict[str, Any]]) -> bool:
        """Repeats the signal: between two cells there is nothing to interrupt, and this cell may not have begun."""
        give_up = time.monotonic() + GRACE_S
        while not answer.done() and (left := give_up - time.monotonic()) > 0:
            self._sandbox.interrupt()
            await asyncio.wait({answer}, timeout=min(left, _AGAIN_S))
        return answer.done()

    async def _ask(self, job: Job, message: dict[str, Any]) -> dict[str, Any]:
        if self._sandbox.has_spoken:
            raise Garbled(UNASKED)
        await self._sandbox.send({"cell": message})
        return await self._sandbox.receive(job.limits.result_bytes + _ANSWER_SLACK)

    async def _kill(self, job: Job) -> JobResult:
        self._sandbox.kill()
        await self._see_end()
        self._die()
        return _with_loss(timed_out(job))

    def interrupt(self) -> None:
        if self._stop is not None:
            self._stop.set()

    async def aclose(self) -> None:
        self._sandbox.kill()
        self._dead = True
        if self._working:
            await asyncio.gather(*self._working, return_exceptions=True)
        await self._see_end()
        self._die()

    async def _see_end(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_GRACE_S):
                await asyncio.shield(self._sandbox.ended)

    def _die(self) -> None:
        self._dead = True
        self._sandbox.dispose()
        self._forget(self)


def _saying_the_limit(job: Job, result: JobResult) -> JobResult:
    """Says in the error that the time limit caused the interrupt."""
    if result.error is None or result.error.type != "Interrupted":
        return result
    seconds = job.limits.wall_ms / 1e3
    message = f"stopped after {seconds:g} s, the limit of this cell; the session's variables are kept"
    return result.model_copy(update={"error": _saying(result.error, message)})


def _with_loss(result: JobResult) -> JobResult:
    if result.error is None:
        return result
    message = f"{result.error.message}; the session has ended and its variables with it"
    return result.model_copy(update={"error": _saying(result.error, message)})


def _saying(error: JobError, message: str) -> JobError:
    return error.model_copy(update={"message": message})
