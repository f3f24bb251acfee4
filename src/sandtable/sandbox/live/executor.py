"""LiveExecutor: jobs run as single statements in one connected database.

Invariant: a text is sent to the database at most once. Only a connection that turns out to be lost before the text was
run is made again. The job's time limit counts from its submission, and its worker is killed when the limit is reached
or the job is cancelled.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from pydantic import TypeAdapter, ValidationError

from sandtable.errors import InvalidInput, SandtableError
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.sandbox.executor import Abilities, JobStatus
from sandtable.sandbox.job import Job, JobResult, ResultColumn
from sandtable.sandbox.jobs import Jobs
from sandtable.sandbox.live.pool import IDLE_S, Database, Held, Workers
from sandtable.sandbox.live.worker import WorkerFailed, WorkerLost
from sandtable.sandbox.outcome import failed, timed_out
from sandtable.sandbox.wire import read_answer

_COLUMNS = TypeAdapter(tuple[ResultColumn, ...])
_MOST_JOBS = 1 << 16
_MARGIN, _MOST_MARGIN_MS = 0.1, 500.0
"""The database ends a statement a little before the limit of its job, so that its worker can be kept."""
_UNREPORTED = "run it again; if it fails again, report the run"


class LiveExecutor:
    name = "live"
    abilities = Abilities("live", frozenset({"sql", "dry_run", "fetch_schema"}), grace_s=10.0)

    def __init__(
        self,
        database: Database,
        workers: int = 2,
        *,
        idle_s: float = IDLE_S,
        tracer: Tracer = UNOBSERVED.tracer,
    ) -> None:
        self._database = database
        self._number = workers
        self._places = asyncio.Semaphore(workers)
        self._pending: set[str] = set()
        self._workers = Workers(database, idle_s)
        self._tracer = tracer
        self._jobs = Jobs(self._work, _MOST_JOBS)

    async def submit(self, job: Job) -> None:
        """`options["columns"]`: name and DuckDB type of each column of `text`; of `fetch_schema`: `schemas`, the names
        of those to look at, or None for all. Raises InvalidInput."""
        self.abilities.require(job)
        _declared(job)
        self._jobs.submit(job)

    async def result(self, job_id: str) -> JobResult:
        return await self._jobs.result(job_id)

    async def status(self, job_id: str) -> JobStatus:
        return "pending" if job_id in self._pending else self._jobs.status(job_id)

    async def cancel(self, job_id: str) -> None:
        self._jobs.cancel(job_id)

    async def aclose(self) -> None:
        await self._jobs.aclose()
        await self._workers.aclose()

    async def _work(self, job: Job) -> JobResult:
        began = time.perf_counter()
        result = await self._in_its_place(job, asyncio.get_running_loop().time() + job.limits.wall_ms / 1e3)
        total = (time.perf_counter() - began) * 1e3
        return result.model_copy(update={"metrics": {**result.metrics, "total_ms": total}})

    async def _in_its_place(self, job: Job, deadline: float) -> JobResult:
        self._pending.add(job.id)
        try:
            with self._tracer.span("sandbox.queue"):
                async with asyncio.timeout_at(deadline):
                    await self._places.acquire()
        except TimeoutError:
            message = (
                f"waited {job.limits.wall_ms / 1e3:g} s, the limit of this run, for one of the {self._number}"
            )
            return failed(
                job,
                "RUNNER_TIMEOUT",
                "Timeout",
                f"{message} connections to the database",
                "run it again when fewer queries run",
            )
        finally:
            self._pending.discard(job.id)
        try:
            return await self._connected(job, deadline)
        finally:
            self._places.release()

    async def _connected(self, job: Job, deadline: float) -> JobResult:
        try:
            async with asyncio.timeout_at(deadline):
                held = await self._workers.take()
        except TimeoutError:
            return _unconnected(job)
        except SandtableError as error:
            return _refused(job, error)
        whole = False
        try:
            result, whole = await self._asked(job, held, deadline)
        finally:
            # A worker that was killed in mid-answer, or did not answer as agreed, serves no other job.
            (self._workers.give_back if whole else self._workers.end)(held)
        return result

    async def _asked(self, job: Job, held: Held, deadline: float) -> tuple[JobResult, bool]:
        """The result, and whether the worker can be used again."""
        try:
            try:
                answer = await self._execute(job, held, deadline)
            except WorkerFailed as lost:
                if lost.kind != "unsent":
                    raise
                async with asyncio.timeout_at(deadline):
                    await self._workers.reconnect(held)
                answer = await self._execute(job, held, deadline)
        except WorkerFailed as reported:
            if reported.kind == "timeout":
                return timed_out(job), True
            error = self._database.explain(held.login, reported)
            return JobResult(job_id=job.id, status="failed", error=error), True
        except SandtableError as error:
            return _refused(job, error), False
        except TimeoutError:
            return timed_out(job), False
        except WorkerLost:
            message = "the process that reads the database ended before its answer was complete"
            return failed(job, "RUNNER_INTERNAL_ERROR", "WorkerLost", message, _UNREPORTED), False
        result = _read(job, answer)
        return result, result.error is None or result.error.type != "BadAnswer"

    async def _execute(self, job: Job, held: Held, deadline: float) -> Any:
        left_s = max(deadline - asyncio.get_running_loop().time(), 0.001)
        limits = job.limits
        request = {
            "mode": job.mode,
            "text": job.text,
            "columns": [column.model_dump() for column in _declared(job)],
            "schemas": job.options.get("schemas"),
            "limits": {name: getattr(limits, name) for name in ("rows", "cell_bytes", "result_bytes")},
            "statement_ms": max(1, int(left_s * 1e3 - min(_MOST_MARGIN_MS, left_s * 1e3 * _MARGIN))),
        }
        return await held.worker.ask("execute", request, within_s=left_s)


def _declared(job: Job) -> tuple[ResultColumn, ...]:
    if job.mode == "fetch_schema":
        return ()
    try:
        return _COLUMNS.validate_python(job.options.get("columns"))
    except ValidationError as error:
        raise InvalidInput(
            "the job does not say what the columns of its query are",
            suggestion="Give `columns`, with the name and the DuckDB type of each.",
        ) from error


def _read(job: Job, answer: Any) -> JobResult:
    if not isinstance(answer, dict):
        return _disagreed(job)
    result = read_answer(job, answer, "")
    if result.status == "succeeded" and result.columns != _declared(job):
        return _disagreed(job)
    return result


def _disagreed(job: Job) -> JobResult:
    message = "the worker's answer does not have the agreed form"
    return failed(job, "RUNNER_INTERNAL_ERROR", "BadAnswer", message, _UNREPORTED)


def _unconnected(job: Job) -> JobResult:
    message = f"the database did not accept a connection within {job.limits.wall_ms / 1e3:g} s, the limit of this run"
    return failed(
        job,
        "RUNNER_TIMEOUT",
        "Timeout",
        message,
        "check that the database runs and can be reached, and try again",
    )


def _refused(job: Job, error: SandtableError) -> JobResult:
    return failed(job, error.code.value, type(error).__name__, error.message, error.suggestion)
