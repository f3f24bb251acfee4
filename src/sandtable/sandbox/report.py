"""What `sandtable_runner.once`, the program of a single-use container, reports about its one job.

Invariant: a report is untrusted. It becomes a JobResult in the same way as an answer of the local tier, so that the
same text gives the same outcome on every tier.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.outcome import Ended, explain_end, timed_out
from sandtable.sandbox.wire import read_answer


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Ready(_Line):
    """The container waits for its job."""

    kind: Literal["ready"]
    engine: str
    layers: tuple[str, ...]
    reasons: tuple[str, ...] = ()


class Unavailable(_Line):
    """The container cannot take a job, and why."""

    kind: Literal["unavailable"]
    message: str
    reasons: tuple[str, ...] = ()


class RunnerReport(_Line):
    kind: Literal["report"]
    nonce: str
    """Copied from the order: distinguishes a report from other lines in a log."""
    answer: dict[str, Any] | None
    trouble: str = ""
    """Why there is no answer."""
    timed_out: bool = False
    status: int | None = Field(default=None, ge=0, le=0xFFFF)
    """Exit status of the sandboxed process, as `wait` gives it."""
    peak_kb: int = Field(default=0, ge=0, le=1 << 50)
    cpu_ms: float = Field(default=0.0, ge=0, le=1e15)
    output: str = ""
    """What the process itself wrote to its standard streams, bounded."""


def result_of(job: Job, report: RunnerReport) -> JobResult:
    if report.timed_out:
        return timed_out(job)
    if report.answer is not None:
        return read_answer(job, report.answer, report.output)
    ended = Ended(report.status, report.peak_kb, report.cpu_ms)
    return explain_end(job, ended, report.output, report.trouble or "the sandbox ended before it answered")
