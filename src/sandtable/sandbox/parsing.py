"""A text is parsed in a sandbox; once more, where a busy machine left it no time.

A text that means well is parsed in milliseconds of processor time, so little time is enough to tell it from one that
does not. One that ran out of time without having used it has waited for others: that is no reason to refuse it.
"""

from __future__ import annotations

import secrets

from sandtable.sandbox.executor import Executor, executed
from sandtable.sandbox.job import Job, JobResult

SECOND_MS = 5000
"""Together with the first limit, less than a run waits for its verdict."""


def parse_id() -> str:
    return f"parse_{secrets.token_hex(8)}"


async def parsed(executor: Executor, job: Job) -> JobResult:
    result = await executed(executor, job)
    if not _was_starved(job, result):
        return result
    limits = job.limits.model_copy(update={"wall_ms": SECOND_MS})
    return await executed(executor, job.model_copy(update={"id": parse_id(), "limits": limits}))


def _was_starved(job: Job, result: JobResult) -> bool:
    """Not where its processor time is unknown."""
    ran_out = result.error is not None and result.error.type == "Timeout"
    return ran_out and result.metrics.get("cpu_ms", job.limits.wall_ms) < job.limits.wall_ms / 2
