"""How a sandbox's process ended, and the JobResult for a job that got no answer."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from sandtable.errors import ErrorCode
from sandtable.sandbox.host_paths import hide_host_paths
from sandtable.sandbox.job import CODE, Job, JobError, JobResult

_SMALLER = "filter or aggregate earlier, add a LIMIT, or avoid joining everything with everything"
_SMALLER_CODE = (
    "work on fewer rows or columns at once: select columns first, filter, or aggregate with sql(…)"
)
_EXHAUSTED = (
    "memory allocation of",
    "bad_alloc",
    "MemoryError",
    "Cannot allocate memory",
    "out of memory",
    "Out of Memory",
)
_SETUP_FAILED = 70


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process of a job ended. `status` is that of `wait`; None when it is unknown."""

    status: int | None
    peak_kb: int = 0
    cpu_ms: float = 0.0

    @property
    def signal(self) -> int | None:
        return os.WTERMSIG(self.status) if self.status is not None and os.WIFSIGNALED(self.status) else None

    @property
    def exit_code(self) -> int | None:
        return os.WEXITSTATUS(self.status) if self.status is not None and os.WIFEXITED(self.status) else None


def failed(job: Job, code: str, kind: str, message: str, suggestion: str = "", stderr: str = "") -> JobResult:
    error = JobError(code=ErrorCode(code), type=kind, message=message, suggestion=suggestion)
    result = JobResult(job_id=job.id, status="failed", error=error, stderr=stderr[: job.limits.log_bytes])
    return hide_host_paths(job, result)


def timed_out(job: Job, ended: Ended | None = None) -> JobResult:
    message = f"stopped after {job.limits.wall_ms / 1e3:g} s, the limit of this run"
    result = failed(job, "RUNNER_TIMEOUT", "Timeout", message, _smaller(job))
    return result.model_copy(update={"metrics": {"cpu_ms": ended.cpu_ms}}) if ended else result


def _smaller(job: Job) -> str:
    return _SMALLER_CODE if job.mode in CODE else _SMALLER


def explain_end(job: Job, ended: Ended | None, output: str, trouble: str) -> JobResult:
    """For a sandbox that ended, or sent a malformed answer, before its answer was complete. `output` is what its
    process wrote to its standard streams."""
    number = ended.signal if ended else None
    exhausted = any(word in output for word in _EXHAUSTED)
    if number == signal.SIGXCPU or (
        number == signal.SIGKILL and _used_its_time(job, ended.cpu_ms if ended else 0)
    ):
        message = f"stopped after {job.limits.cpu_s} s of processor time, the limit of this run"
        return failed(job, "RUNNER_RESOURCE_EXCEEDED", "CpuLimit", message, _smaller(job), output)
    if number == signal.SIGXFSZ:
        message = f"stopped: it filled its {job.limits.tmp_mb} MB of scratch space"
        return failed(job, "RUNNER_RESOURCE_EXCEEDED", "TmpLimit", message, _smaller(job), output)
    if exhausted or (
        number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)
        and _near_limit(job, ended.peak_kb if ended else 0)
    ):
        message = f"stopped: it needed more than {job.limits.memory_mb} MB of memory"
        return failed(job, "RUNNER_RESOURCE_EXCEEDED", "MemoryLimit", message, _smaller(job), output)
    if number == signal.SIGKILL:
        message = "the sandbox was killed from outside, most likely because the machine ran out of memory"
        return failed(
            job,
            "RUNNER_RESOURCE_EXCEEDED",
            "Killed",
            message,
            "run it again when the machine is less busy",
            output,
        )
    if number is not None:
        who, what = ("the code", "code") if job.mode in CODE else ("the engine", "query")
        message = f"{who} crashed ({_name(number)}); nothing else was affected"
        advice = f"rewrite the {what} and report this one"
        return failed(job, "RUNNER_INTERNAL_ERROR", "Crash", message, advice, output)
    if job.mode in CODE and ended is not None and ended.exit_code not in (None, _SETUP_FAILED):
        message = f"the code ended its own process, with exit code {ended.exit_code}, before it had an answer"
        return failed(job, "VALIDATION_ERROR", "SystemExit", message, "let the code run to its end", output)
    return failed(
        job,
        "RUNNER_INTERNAL_ERROR",
        "NoAnswer",
        trouble,
        "run it again; if it fails again, report the run",
        output,
    )


def _name(number: int) -> str:
    known = {each.value: each.name for each in signal.Signals}
    return known.get(number, f"signal {number}")


def _used_its_time(job: Job, cpu_ms: float) -> bool:
    """Process 1 of a pid namespace does not receive SIGXCPU; the kernel's SIGKILL follows a second later."""
    return cpu_ms >= job.limits.cpu_s * 1e3


def _near_limit(job: Job, peak_kb: int) -> bool:
    return peak_kb * 1024 > job.limits.memory_mb * (1 << 20) * 0.7
