"""RemoteExecutor: jobs run in the sandboxes of a `sandtable execd`, or of several behind one address.

Invariant: a job's result is taken only from a service that proved to hold the token. A job whose
service was lost runs once more, because jobs only read; a job that is cancelled here is cancelled there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import structlog
from pydantic import ValidationError

from sandtable.errors import ErrorCode, InvalidInput, SandtableError
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.retrying import Backoff, retried
from sandtable.sandbox.executor import Abilities, Hello, JobStatus, Kind
from sandtable.sandbox.job import CODE, READS, Job, JobResult
from sandtable.sandbox.jobs import Jobs
from sandtable.sandbox.outcome import failed
from sandtable.sandbox.remote import trouble
from sandtable.sandbox.remote.lane import Address, Lane, Lanes
from sandtable.sandbox.remote.proof import Token
from sandtable.sandbox.remote.protocol import HELLO, JOBS, LONGEST_WAIT_S, PROTOCOL, WARM, Offer, Received
from sandtable.sandbox.wire import read_answer
from sandtable.settings import Settings

_ATTEMPTS = 2
_QUICK_LOSSES = 4
"""A load balancer may route to a replica that is already gone: such a loss shows within `_QUICK_S`."""
_QUICK_S = 0.5
_ENVELOPE = 2 << 20
"""Allowance beside the rows: names of columns, logs, figures."""
_ASCII = 3
"""A character of two bytes is six as JSON in ASCII."""
_REPLICAS_TRIED = 64
_JITTER = 0.8
"""For all pauses: servers that lost a service together do not reconnect together."""
_ELSEWHERE = Backoff((0.05,), jitter=_JITTER)
_START_WAIT_S = 120.0
_PAUSES_S = (0.1, 0.2, 0.4, 0.8, 1.0)
_QUICK_LOSS = Backoff(_PAUSES_S)
_CANCELLING_S = 5.0

T = TypeVar("T")

log = structlog.get_logger(__name__)


class RemoteExecutor:
    abilities = Abilities("remote", READS, grace_s=60.0)
    name = abilities.name

    def __init__(
        self,
        url: str,
        token: str,
        *,
        parallel: int = 8,
        patience_s: float = 20.0,
        patience_full_s: float = 45.0,
        wait_s: float = LONGEST_WAIT_S,
        tracer: Tracer = UNOBSERVED.tracer,
    ) -> None:
        """`patience_s`: how long to retry a service that cannot be reached, because it may be restarting;
        `patience_full_s`: the same for one that has no free slot; `wait_s`: how long one request waits for a result.
        Raises InvalidInput."""
        self._address = Address.of(url)
        self._tracer = tracer
        self._lanes = Lanes(self._address, Token(token), tracer)
        self._jobs = Jobs(self._work, parallel, tracer=tracer)
        self._patience_s = patience_s
        self._patience_full_s = patience_full_s
        self._wait_s = wait_s
        self._likeness = ""
        self._cancellations: set[asyncio.Task[None]] = set()

    @classmethod
    def configured(
        cls, settings: Settings, store: Path, tracer: Tracer = UNOBSERVED.tracer
    ) -> RemoteExecutor:
        """The data are on the service's side, not in this server's store."""
        if settings.execd_url is None or settings.execd_token is None:
            raise InvalidInput(
                "the backend `remote` needs to know where its service is, and what proves that it is the right one",
                suggestion="Set SANDTABLE_EXECD_URL and SANDTABLE_EXECD_TOKEN, the same token as for"
                " `sandtable execd`.",
            )
        token = settings.execd_token.get_secret_value()
        return cls(settings.execd_url, token, parallel=settings.places, tracer=tracer)

    # The seam

    async def start(self, kind: Kind = "sql") -> Hello:
        offer = await self.offer(kind)
        return Hello(offer.engine, ("remote", *offer.layers), offer.reasons)

    async def offer(self, kind: Kind = "sql") -> Offer:
        """The service's abilities. From then on, only replicas with the same likeness get jobs."""
        read = await self._apart(
            lambda lane: lane.ask("GET", HELLO, query={"kind": kind}, wait_s=_START_WAIT_S)
        )
        theirs = read.get("protocol")
        if theirs != PROTOCOL:
            raise trouble.other_protocol(
                self._address.url,
                theirs if isinstance(theirs, int) else 0,
                PROTOCOL,
                str(read.get("version", "?")),
            )
        try:
            offer = Offer.model_validate(read)
        except ValidationError as error:
            raise trouble.misunderstood(self._address.url) from error
        if kind == "sql":
            self._likeness = offer.likeness
        return offer

    async def warm(self, job: Job) -> None:
        await self._apart(lambda lane: lane.ask("POST", WARM, body=job, wait_s=_START_WAIT_S))

    async def submit(self, job: Job) -> None:
        self.abilities.require(job)
        self._jobs.submit(job)

    async def result(self, job_id: str) -> JobResult:
        return await self._jobs.result(job_id)

    async def status(self, job_id: str) -> JobStatus:
        return self._jobs.status(job_id)

    async def cancel(self, job_id: str) -> None:
        self._jobs.cancel(job_id)

    async def aclose(self) -> None:
        await self._jobs.aclose()
        if self._cancellations:
            await asyncio.wait(self._cancellations, timeout=_CANCELLING_S)
        for task in self._cancellations:
            task.cancel()
        await asyncio.gather(*self._cancellations, return_exceptions=True)
        await self._lanes.aclose()

    # One job

    async def _work(self, job: Job) -> JobResult:
        lane = self._lanes.take()
        quick, begun = 0, 0
        try:
            while quick < _QUICK_LOSSES and begun < _ATTEMPTS:
                started = time.monotonic()
                with self._tracer.span("remote", attempt=quick + begun + 1):
                    result = await self._attempt(lane, job)
                if result is not None:
                    return result
                await lane.renew()
                if time.monotonic() - started > _QUICK_S:
                    begun += 1
                else:
                    quick += 1
                    await asyncio.sleep(_QUICK_LOSS.pause_s(quick))
            message = "the execution service was lost again and again while it ran this"
            return failed(job, "RUNNER_INTERNAL_ERROR", "SandboxLost", message, "run it again")
        finally:
            await self._lanes.give_back(lane)

    async def _attempt(self, lane: Lane, job: Job) -> JobResult | None:
        """None when the service was lost during the job."""
        try:
            state = await self._patiently(lane, lambda: self._hand_over(lane, job))
            while state.result is None:
                state = await self._ask_again(lane, job, state.replica)
        except (trouble.ConnectionLost, trouble.UnknownJob) as error:
            log.warning("execution_service_lost", job_id=job.id, reason=str(error))
            return None
        except asyncio.CancelledError:
            self._cancel_remotely(job.id)
            raise
        return self._result(job, state.result)

    async def _hand_over(self, lane: Lane, job: Job) -> Received:
        """The service ends the job when this connection breaks; its id makes a second submission harmless."""
        query = self._waiting() | ({"likeness": self._likeness} if self._likeness else {})
        return self._received(
            job,
            await lane.ask("POST", JOBS, query=query, body=job, wait_s=self._wait_s, largest=_largest(job)),
        )

    async def _ask_again(self, lane: Lane, job: Job, replica: str) -> Received:
        """A balancer of requests may route to another replica, which does not know the job."""
        for _ in range(_REPLICAS_TRIED):
            try:
                read = await lane.ask(
                    "GET", f"{_path(job.id)}/result", query=self._waiting(), wait_s=self._wait_s,
                    largest=_largest(job),
                )  # fmt: skip
                return self._received(job, read)
            except trouble.UnknownJob as error:
                if error.replica == replica:
                    raise
                await _turn_elsewhere(lane)
        raise trouble.ConnectionLost("no replica has the job any more")

    def _waiting(self) -> dict[str, str]:
        return {"wait_s": f"{self._wait_s:g}", "hold": "true"}

    def _received(self, job: Job, read: dict[str, Any]) -> Received:
        try:
            state = Received.model_validate(read)
        except ValidationError as error:
            raise trouble.misunderstood(self._address.url) from error
        if state.job_id != job.id:
            raise trouble.misunderstood(self._address.url)
        return state

    def _result(self, job: Job, result: dict[str, Any]) -> JobResult | None:
        if result.get("status") == "cancelled":
            # Not cancelled by us: the service is stopping, or considered us gone.
            return None
        printed = result.get("stderr")
        output = printed if isinstance(printed, str) and job.mode not in CODE else ""
        return read_answer(job, result, output, codes=frozenset(ErrorCode))

    # Patience

    async def _patiently(self, lane: Lane, ask: Callable[[], Awaitable[T]]) -> T:
        def backoff(error: trouble.Passing) -> Backoff:
            pauses_s = (error.pause_s,) if error.pause_s else _PAUSES_S
            budget_s = self._patience_full_s if isinstance(error, trouble.Full) else self._patience_s
            return Backoff(pauses_s, budget_s, _JITTER)

        return await retried(ask, on=trouble.Passing, backoff=backoff, between=lambda _: lane.renew())

    async def _apart(self, ask: Callable[[Lane], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """A request that belongs to no job."""
        lane = self._lanes.take()
        try:
            try:
                return await self._patiently(lane, lambda: ask(lane))
            except trouble.ConnectionLost as error:
                raise trouble.unreachable(self._address.url, str(error)) from error
        finally:
            await self._lanes.give_back(lane)

    def _cancel_remotely(self, job_id: str) -> None:
        task = asyncio.create_task(self._cancellation(job_id), name=f"cancel {job_id} remotely")
        self._cancellations.add(task)
        task.add_done_callback(self._cancellations.discard)

    async def _cancellation(self, job_id: str) -> None:
        """The broken connection already ends the job, unless a proxy keeps it open."""
        lane = self._lanes.take()
        try:
            async with asyncio.timeout(_CANCELLING_S):
                for _ in range(_REPLICAS_TRIED):
                    try:
                        await lane.ask("DELETE", _path(job_id))
                        return
                    except trouble.UnknownJob:
                        await _turn_elsewhere(lane)
        except (SandtableError, trouble.ConnectionLost, TimeoutError) as error:
            log.info("remote_job_left_to_its_lease", job_id=job_id, reason=str(error))
        finally:
            await self._lanes.give_back(lane)


async def _turn_elsewhere(lane: Lane) -> None:
    """Without the pause, two clients that alternate on a round-robin balancer would never change replica."""
    await lane.renew()
    await asyncio.sleep(_ELSEWHERE.pause_s(1))


def _path(job_id: str) -> str:
    return f"{JOBS}/{quote(job_id, safe='')}"


def _largest(job: Job) -> int:
    limits = job.limits
    return (limits.result_bytes + limits.log_bytes * 2) * _ASCII + _ENVELOPE
