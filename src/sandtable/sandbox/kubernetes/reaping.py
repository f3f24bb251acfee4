"""What servers that died left behind.

Invariant: only Jobs that have been over for a while are deleted. A living replica reads a result within moments of its
end, a restarted one within the time that it takes to start; what still runs is ended by its own deadline.
"""

from __future__ import annotations

from datetime import UTC, datetime

import structlog

from sandtable.sandbox.kubernetes import names
from sandtable.sandbox.kubernetes.api import Api, ApiAway, ApiRefused, Object

log = structlog.get_logger(__name__)


def ended_at(job: Object) -> datetime | None:
    status = job.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True":
            told = status.get("completionTime") or condition.get("lastTransitionTime")
            return datetime.fromisoformat(told) if told else None
    return None


def leftovers(jobs: list[Object], now: datetime, kept_s: float) -> list[Object]:
    return [job for job in jobs if (end := ended_at(job)) and (now - end).total_seconds() > kept_s]


async def reap(api: Api, instance: str, kept_s: float) -> int:
    """How many were deleted. Trouble is told to the log: the Jobs' own time to live does the same a little later."""
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
