"""LocalExecutor: jobs run in single-use sandboxes on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from pathlib import Path

from sandtable.errors import InvalidInput, RunnerBroken
from sandtable.observing import UNOBSERVED, Observer
from sandtable.sandbox.executor import Abilities, Hello, JobStatus, Kind
from sandtable.sandbox.job import CODE, MODES, WRITES, Job, JobResult
from sandtable.sandbox.jobs import Jobs
from sandtable.sandbox.key import PresealKey
from sandtable.sandbox.local.held import Held
from sandtable.sandbox.local.pool import Origin, Pool, PoolPlan, RestartingPool
from sandtable.sandbox.local.sandbox import UNASKED, Garbled, Sandbox
from sandtable.sandbox.local.session import LocalSession
from sandtable.sandbox.outcome import explain_end, failed, timed_out
from sandtable.sandbox.shelves import KEYS_KEPT, Refills
from sandtable.sandbox.wire import order_of, read_answer

_ANSWER_SLACK = 1 << 20
_READY_BYTES = 4096
_END_GRACE_S = 1.0
_QUIET_S = 0.25
_REFILL_LATEST_S = 3.0
_TEMPLATE_MB = 1024
_PIDS_EACH = 64
_CODE_KEYS = 3
"""A sandbox with libraries holds more memory: fewer of them are kept ready."""
_SESSION_PIDS = 4096
"""For idle sessions, beside the jobs that run."""


class LocalExecutor:
    abilities = Abilities("local", MODES, grace_s=10.0)
    name = abilities.name

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
        sessions: int = 0,
        origin: Origin | None = None,
        observer: Observer = UNOBSERVED,
    ) -> None:
        """`sessions`: how many have memory beside that of the `parallel` jobs."""
        self.store = store
        self._observer = observer
        memory_bytes = (parallel * memory_mb + _TEMPLATE_MB) << 20
        pids = parallel * _PIDS_EACH + standby + KEYS_KEPT * presealed
        queries = PoolPlan("sql", store, isolation, nice, memory_bytes, pids, standby, presealed)
        with_sessions = memory_bytes + (sessions * memory_mb << 20)
        code = PoolPlan(
            "py", store, isolation, nice, with_sessions, pids + _SESSION_PIDS, standby, min(presealed, 1),
            keys=_CODE_KEYS,
        )  # fmt: skip
        self._pools: dict[Kind, RestartingPool] = {"sql": RestartingPool(queries), "py": RestartingPool(code)}
        self._sessions: set[LocalSession] = set()
        self._origin: Origin | None = origin
        self._jobs = Jobs(self._work, parallel, kill=self._kill, tracer=observer.tracer)
        self._cancelled: set[str] = set()
        self._sandboxes: dict[str, Sandbox] = {}
        self._refills: Refills[tuple[Kind, PresealKey]] = Refills()
        self._taken: set[tuple[Kind, PresealKey]] = set()
        """Kinds taken since their refill last checked the shelves."""
        self._last_work = 0.0
        self._hurry = asyncio.Event()
        self._held = Held(parallel)
        self._kept: deque[Sandbox] = deque()
        """Idle parsers of the one person who uses this process."""

    async def start(self, kind: Kind = "sql") -> Hello:
        """Find out which isolation the host supports. Raises SandboxUnavailable. Otherwise called by the first job."""
        return (await self._pools[kind].ready())[0].hello

    async def submit(self, job: Job) -> None:
        self._jobs.submit(job)

    async def open_session(self, job: Job) -> LocalSession:
        """Implements `sandbox.session.SessionHost`."""
        self._jobs.refuse_when_closed()
        if job.mode != "session":
            raise InvalidInput(f"a session is opened with a job of mode `session`, not {job.mode!r}")
        for _ in range(2):
            _, pool = await self._pools["py"].ready()
            sandbox, origin = pool.take(job, origin=self._origin)
            self._count(job, origin)
            session = LocalSession(job, sandbox, self._jobs.places, self._sessions.discard)
            self._sessions.add(session)
            opened = await session.open(fresh=origin == "fresh")
            self._last_work = time.perf_counter()
            self._refill(pool, job)
            if opened:
                return session
        raise RunnerBroken("the sandbox was lost twice", suggestion="Try again")

    async def result(self, job_id: str) -> JobResult:
        return await self._jobs.result(job_id)

    async def status(self, job_id: str) -> JobStatus:
        return self._jobs.status(job_id)

    async def cancel(self, job_id: str) -> None:
        self._jobs.cancel(job_id)

    def _kill(self, job_id: str) -> None:
        self._cancelled.add(job_id)
        if sandbox := self._sandboxes.get(job_id):
            sandbox.kill()

    async def _work(self, job: Job) -> JobResult:
        try:
            result = await self._attempt(job)
            if result is None:
                # The template died during the job. Jobs only read, so a second attempt is safe.
                result = await self._attempt(job)
            return result or failed(job, "RUNNER_INTERNAL_ERROR", "SandboxLost", "the sandbox was lost twice")
        finally:
            self._cancelled.discard(job.id)
            self._last_work = time.perf_counter()

    async def _attempt(self, job: Job) -> JobResult | None:
        _, pool = await self._pools[kind_of(job)].ready()
        if job.id in self._cancelled:
            return JobResult(job_id=job.id, status="cancelled")
        started = time.perf_counter()
        sandbox, origin = self._take(pool, job)
        self._count(job, origin)
        self._sandboxes[job.id] = sandbox
        result = None
        try:
            result = await self._converse(job, sandbox, origin)
        finally:
            del self._sandboxes[job.id]
            succeeded = result is not None and result.status == "succeeded"
            if keeps(job) and succeeded and sandbox.alive:
                self._kept.append(sandbox)
            elif result is None or not succeeded or not self._held.hold(job, result, sandbox):
                sandbox.dispose()
        if result is not None:
            total = (time.perf_counter() - started) * 1e3
            result = result.model_copy(update={"metrics": {**result.metrics, "total_ms": total}})
        if job.mode not in WRITES and origin != "kept":
            self._refill(pool, job)
        return result

    def _count(self, job: Job, origin: Origin) -> None:
        self._observer.meter.counted("sandbox", kind=kind_of(job), origin=origin)

    def ready_now(self) -> dict[tuple[Kind, str], int]:
        """How many sandboxes wait for a job, by what they have loaded and by shelf."""
        counts: dict[tuple[Kind, str], int] = {
            (kind, shelf): number
            for kind, pool in self._pools.items()
            for shelf, number in pool.ready_now().items()
        }
        counts["sql", "kept"] = len(self._kept)
        return counts

    def _take(self, pool: Pool, job: Job) -> tuple[Sandbox, Origin]:
        while keeps(job) and self._kept:
            sandbox = self._kept.popleft()
            if sandbox.alive:
                return sandbox, "kept"
            sandbox.dispose()
        if (sandbox := self._held.take(job)) is not None:
            return sandbox, "held"
        return pool.take(job, origin=self._origin)

    async def _converse(self, job: Job, sandbox: Sandbox, origin: Origin) -> JobResult | None:
        """None when the template was lost."""
        try:
            if origin in ("kept", "held") and sandbox.has_spoken:
                raise Garbled(UNASKED)
            async with asyncio.timeout(job.limits.wall_ms / 1e3):
                await sandbox.send(order_of(job))
                if origin == "fresh":
                    await sandbox.receive(_READY_BYTES)
                answer = await sandbox.receive(job.limits.result_bytes + _ANSWER_SLACK)
            return read_answer(job, answer, sandbox.output)
        except TimeoutError:
            sandbox.kill()
            await self._see_end(sandbox)
            return self._unless_cancelled(job, timed_out(job, sandbox.end))
        except Garbled as trouble:
            await self._see_end(sandbox)
            if sandbox.end is not None and sandbox.end.status is None and job.id not in self._cancelled:
                return None
            return self._unless_cancelled(job, explain_end(job, sandbox.end, sandbox.output, str(trouble)))

    def _unless_cancelled(self, job: Job, result: JobResult) -> JobResult:
        return JobResult(job_id=job.id, status="cancelled") if job.id in self._cancelled else result

    async def _see_end(self, sandbox: Sandbox) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_GRACE_S):
                await asyncio.shield(sandbox.ended)

    def _refill(self, pool: Pool, job: Job) -> None:
        key = (kind_of(job), PresealKey.of(job))
        self._taken.add(key)
        self._refills.start(key, lambda: self._refill_while_taken(pool, job, key))

    async def _refill_while_taken(self, pool: Pool, job: Job, key: tuple[Kind, PresealKey]) -> None:
        while key in self._taken:
            await self._quiet()
            self._taken.discard(key)
            await pool.refill(job)

    async def _quiet(self) -> None:
        """Runs take precedence. While many of them run, forking a sandbox on demand costs less than preparing one."""
        latest = time.perf_counter() + _REFILL_LATEST_S
        while (now := time.perf_counter()) < latest:
            quiet = 0.0 if self._jobs.running else now - self._last_work
            if quiet >= _QUIET_S:
                break
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_QUIET_S - quiet):
                    await self._hurry.wait()
                    break

    async def warm(self, job: Job) -> None:
        """Have sandboxes presealed for jobs like this one before the first of them comes."""
        _, pool = await self._pools[kind_of(job)].ready()
        pool.expect(PresealKey.of(job))
        await pool.refill(job)

    async def settle(self) -> None:
        """Wait until the shelves are full again (for measuring)."""
        self._hurry.set()
        try:
            await self._refills.settle()
        finally:
            self._hurry.clear()

    async def aclose(self) -> None:
        await self._jobs.aclose()
        await self._refills.aclose()
        await asyncio.gather(*(session.aclose() for session in list(self._sessions)))
        while self._kept:
            self._kept.popleft().dispose()
        self._held.close()
        await asyncio.gather(*(each.aclose() for each in self._pools.values()))


def keeps(job: Job) -> bool:
    """A parser may serve one person's texts in turn: a compromised one could only deceive that person."""
    return job.mode == "parse" and bool(job.options.get("keep"))


def kind_of(job: Job) -> Kind:
    return "py" if job.mode in CODE else "sql"
