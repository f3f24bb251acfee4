"""Creates a job's Job in the cluster: exactly one, however often and by however many servers it is tried.

Invariant: an existing Job with the same order is followed, never created a second time; one of an earlier attempt of
the same run with another order is deleted; a lost answer changes nothing, because the name is fixed by the job's id.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import structlog

from sandtable.retrying import retried
from sandtable.sandbox.executor import Kind
from sandtable.sandbox.job import CODE, Job
from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.api import OUTAGE, Api, ApiAway, ApiRefused, Object
from sandtable.sandbox.kubernetes.following import Progress
from sandtable.sandbox.kubernetes.manifest import (
    ORDER_FOLDER,
    Filling,
    Size,
    Timeouts,
    digest_of,
    fill,
    packed_order,
)
from sandtable.sandbox.kubernetes.trouble import is_full, unavailable

_CONFLICT = 409
_FULL_S = 2.0

T = TypeVar("T")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Placed:
    name: str
    nonce: str
    uid: str


def kind_of(job: Job) -> Kind:
    return "py" if job.mode in CODE else "sql"


class Placing:
    def __init__(self, api: Api, template: Object, instance: str, replica: str, timeouts: Timeouts) -> None:
        self._api = api
        self._template = template
        self._instance = instance
        self._replica = replica
        self._timeouts = timeouts

    async def adopt(self, job: Job) -> Placed | None:
        """The Job of an earlier attempt with the same order, whose server died. Other Jobs of the run are deleted."""
        run, attempt = names.run_and_attempt(job.id)
        if attempt == 1:
            return None
        wanted = digest_of(job)
        chosen: Placed | None = None
        found = await self._persist(lambda: self._api.jobs(names.selector(instance=self._instance, run=run)))
        for other in sorted(found, key=_age, reverse=True):
            placed = _placed(other)
            if placed is None or _attempt(other) >= attempt:
                continue
            if chosen is None and _digest(other) == wanted:
                chosen = placed
                log.info("runner_job_adopted", job=placed.name, job_id=job.id)
            else:
                await self._persist(lambda gone=placed: self._api.delete_job(gone.name, gone.uid))
        return chosen

    async def place(self, job: Job, progress: Progress, again: int = 0) -> Placed:
        """Raises InvalidInput (the text is too long) and SandboxUnavailable."""
        name = names.job_name(self._instance, job.id, again)
        nonce = secrets.token_hex(16)
        manifest = self._manifest(job, name, nonce)
        latest = time.monotonic() + self._timeouts.queue
        while True:
            try:
                made = await self._persist(lambda: self._api.create_job(manifest))
                return Placed(name, nonce, made["metadata"]["uid"])
            except ApiRefused as refused:
                if refused.status == _CONFLICT and (placed := await self._existing(job, name, nonce)):
                    return placed
                if time.monotonic() > latest or not (refused.status == _CONFLICT or is_full(refused)):
                    raise unavailable(refused, self._api) from refused
                if is_full(refused):
                    progress.waiting = f"the quota is used up: {refused.message}"
                    await asyncio.sleep(_FULL_S)

    def _manifest(self, job: Job, name: str, nonce: str) -> Object:
        kind = kind_of(job)
        given = Filling(
            name=name,
            labels=names.labels_of(self._instance, self._replica, job.id),
            annotations={names.DIGEST: digest_of(job), names.NONCE: nonce},
            config={"kind": kind, "input": f"file:{ORDER_FOLDER}/order", "nonce": nonce},
            size=Size.of(kind, job.limits, job.threads),
            order=packed_order(job),
        )
        return fill(self._template, given, self._timeouts)

    async def _existing(self, job: Job, name: str, nonce: str) -> Placed | None:
        """The Job with our name. None when it is gone, or about to be: then ours can be created."""
        other = await self._persist(lambda: self._api.job(name))
        if other is None:
            return None
        placed = _placed(other)
        if placed is None:
            await asyncio.sleep(OUTAGE.pause_s(1))
            return None
        if placed.nonce == nonce or _digest(other) == digest_of(job):
            return placed
        log.warning("runner_job_replaced", job=name, reason="a Job with our name has another order")
        await self._persist(lambda: self._api.delete_job(name, placed.uid))
        return None

    async def _persist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Retries while the API is away. Raises SandboxUnavailable in the end, ApiRefused at once."""
        try:
            return await retried(call, on=ApiAway, backoff=replace(OUTAGE, budget_s=self._timeouts.outage))
        except ApiAway as away:
            raise unavailable(away, self._api) from away


def _placed(job: Object) -> Placed | None:
    """None for a Job that is being deleted, or is not ours."""
    metadata = job["metadata"]
    nonce = (metadata.get("annotations") or {}).get(names.NONCE)
    if metadata.get("deletionTimestamp") or not nonce:
        return None
    return Placed(metadata["name"], nonce, metadata["uid"])


def _digest(job: Object) -> str:
    return (job["metadata"].get("annotations") or {}).get(names.DIGEST, "")


def _attempt(job: Object) -> int:
    number = (job["metadata"].get("labels") or {}).get(names.ATTEMPT, "")
    return int(number) if number.isdecimal() else 0


def _age(job: Object) -> tuple[int, str]:
    return _attempt(job), job["metadata"].get("creationTimestamp") or ""
