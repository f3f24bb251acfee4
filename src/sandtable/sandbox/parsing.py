"""A text is parsed in a sandbox; once more, where a busy machine left it no time.

A text that means well is parsed in milliseconds of processor time, so little time is enough to tell it from one that
does not. One that ran out of time without having used it has waited for others: that is no reason to refuse it. Nor
is the time that a short text seems to have used: where the machine's own processors are lent to others, what they
took is counted as the text's.
"""

from __future__ import annotations

import secrets

from sandtable.sandbox.executor import Executor, executed
from sandtable.sandbox.job import Job, JobResult

SECOND_MS = 10_000
"""Time for a machine that does many things at once."""

SHORT = 4 << 10
"""Characters. The parsers read this many in 50 ms, whatever they say."""


def parse_id() -> str:
    return f"parse_{secrets.token_hex(8)}"


async def parsed(executor: Executor, job: Job) -> JobResult:
    result = await executed(executor, job)
    if not _was_starved(job, result):
        return result
    limits = job.limits.model_copy(update={"wall_ms": SECOND_MS})
    return await executed(executor, job.model_copy(update={"id": parse_id(), "limits": limits}))


def _was_starved(job: Job, result: JobResult) -> bool:
    """Not where a long text's processor time is unknown."""
    if result.error is None or result.error.type != "Timeout":
        return False
    return len(job.text) <= SHORT or result.metrics.get("cpu_ms", job.limits.wall_ms) < job.limits.wall_ms / 2
