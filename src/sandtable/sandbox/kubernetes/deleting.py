"""Deletes Jobs: those of this server after their result was read, and those that a dead server left behind.

Invariant: a Job passed to `Deletions` is deleted, or the failure is logged; then its own deadline and time to live end
it. `reap` deletes only Jobs that ended a while ago: a living replica reads a result within moments, a restarted one
within its start-up time, and running Jobs are ended by their own deadline.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from sandtable.retrying import retried
from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.api import OUTAGE, Api, ApiAway, ApiRefused, Object

_INSIST = replace(OUTAGE, budget_s=60.0)
_LATE_CREATION_S = 1.5

log = structlog.get_logger(__name__)


class Deletions:
    """Deletes Jobs in the background, and keeps the tasks until they are done."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, name: str, *, uncertain: bool = False) -> None:
        """`uncertain`: its creation was under way, and may still happen after the first deletion."""
        task = asyncio.create_task(self._delete(name, uncertain), name=f"delete {name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _delete(self, name: str, uncertain: bool) -> None:
        try:
            found = await self._insist(name)
            if uncertain and not found:
                await asyncio.sleep(_LATE_CREATION_S)
                await self._insist(name)
        except (ApiAway, ApiRefused) as error:
            log.warning("runner_job_left_behind", job=name, reason=str(error))

    async def _insist(self, name: str) -> bool:
        return await retried(lambda: self._api.delete_job(name), on=ApiAway, backoff=_INSIST)

    async def settle(self, within_s: float) -> None:
        """Wait for the deletions under way; cancel those that take longer."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(set(self._tasks), timeout=within_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


def ended_at(job: Object) -> datetime | None:
    status = job.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True":
            moment = status.get("completionTime") or condition.get("lastTransitionTime")
            return datetime.fromisoformat(moment) if moment else None
    return None


def leftovers(jobs: list[Object], now: datetime, kept_s: float) -> list[Object]:
    return [job for job in jobs if (end := ended_at(job)) and (now - end).total_seconds() > kept_s]


async def reap(api: Api, instance: str, kept_s: float) -> int:
    """Returns how many were deleted. A failure is logged: the Jobs' own time to live deletes them a little later."""
    deleted = 0
    try:
        found = await api.jobs(names.selector(instance=instance))
        for job in leftovers(found, datetime.now(UTC), kept_s):
            deleted += await api.delete_job(job["metadata"]["name"], job["metadata"]["uid"])
    except (ApiAway, ApiRefused) as error:
        log.warning("runner_jobs_not_reaped", reason=str(error))
    if deleted:
        log.info("runner_jobs_reaped", count=deleted)
    return deleted
