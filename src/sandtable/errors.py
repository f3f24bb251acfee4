"""What can go wrong, named by who must act.

SandtableError
├── InvalidInput        the caller: a plan, a file, a request that cannot be used   VALIDATION_ERROR
├── NotFound            the caller: no such dataset, table, run                     NOT_FOUND
├── SandboxUnavailable  the operator: this host cannot isolate                      SANDBOX_UNAVAILABLE
├── QueueFull           the caller: the queue is full, try again later              QUEUE_FULL
├── RateLimited         the caller: more requests than one user may send            RATE_LIMITED
├── DataDamaged         the operator: a version's files are not those published     DATA_DAMAGED
└── RunnerBroken        no one in particular: an internal failure                   RUNNER_INTERNAL_ERROR

Expected outcomes of a run (refused, timed out, too large) are values, not exceptions: see
`policy.verdict.Refused` and `sandbox.job.JobError`. Both carry a `Problem`'s fields, so that
every surface shows one shape: code, message, suggestion, details. So does an answer that was cancelled before it was
complete (CANCELLED); a run that was cancelled has that status and no error.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class ErrorCode(StrEnum):
    VALIDATION_ERROR = "VALIDATION_ERROR"
    SQL_POLICY_VIOLATION = "SQL_POLICY_VIOLATION"
    PYTHON_POLICY_VIOLATION = "PYTHON_POLICY_VIOLATION"
    RUNNER_TIMEOUT = "RUNNER_TIMEOUT"
    RUNNER_RESOURCE_EXCEEDED = "RUNNER_RESOURCE_EXCEEDED"
    RUNNER_INTERNAL_ERROR = "RUNNER_INTERNAL_ERROR"
    SANDBOX_UNAVAILABLE = "SANDBOX_UNAVAILABLE"
    QUEUE_FULL = "QUEUE_FULL"
    RATE_LIMITED = "RATE_LIMITED"
    CANCELLED = "CANCELLED"
    DATA_DAMAGED = "DATA_DAMAGED"
    NOT_FOUND = "NOT_FOUND"
    UNAUTHORIZED = "UNAUTHORIZED"


class Problem(BaseModel):
    """The one wire shape of an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    code: ErrorCode
    message: str
    suggestion: str = ""
    details: dict[str, Any] = Field(default_factory=dict)

    @property
    def in_words(self) -> str:
        """Message and suggestion as one text, for clients that show only one."""
        message, suggestion = self.message.rstrip(), self.suggestion.strip()
        if not message or not suggestion:
            return message or suggestion
        if suggestion[0].islower():
            return f"{message.rstrip('.')}{'' if message[-1] in '!?' else ';'} {suggestion}"
        return f"{message}{'' if message[-1] in '.!?' else '.'} {suggestion}"


_folder_names: Mapping[str, str] = {}


@contextmanager
def folders_named(names: Mapping[str, str]) -> Generator[None, None, None]:
    """Inside this context, problems show these replacements for folders of the host: users of a server must not
    learn where it keeps its files, be it from an answer, a stored run or a stream."""
    global _folder_names
    before, _folder_names = _folder_names, names
    try:
        yield
    finally:
        _folder_names = before


def renamed(problem: Problem, names: Mapping[str, str]) -> Problem:
    """Replace these texts; a longer text is replaced before one that it contains."""
    order = sorted(names, key=len, reverse=True)

    def other(value: Any) -> Any:
        if isinstance(value, str):
            for name in order:
                value = value.replace(name, names[name])
            return value
        if isinstance(value, Mapping):
            return {key: other(each) for key, each in value.items()}
        return [other(each) for each in value] if isinstance(value, list | tuple) else value

    said = {name: other(getattr(problem, name)) for name in ("message", "suggestion", "details")}
    return problem.model_copy(update=said)


class SandtableError(Exception):
    code: ErrorCode = ErrorCode.RUNNER_INTERNAL_ERROR

    def __init__(self, message: str, *, suggestion: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion
        self.details = details

    @property
    def problem(self) -> Problem:
        """The problem for users. The exception itself, and so the log, keeps the folders' real names."""
        found = Problem(
            code=self.code, message=self.message, suggestion=self.suggestion, details=self.details
        )
        return renamed(found, _folder_names) if _folder_names else found


class InvalidInput(SandtableError):
    code = ErrorCode.VALIDATION_ERROR


class NotFound(SandtableError):
    code = ErrorCode.NOT_FOUND


class SandboxUnavailable(SandtableError):
    code = ErrorCode.SANDBOX_UNAVAILABLE


class QueueFull(SandtableError):
    """The queue, or the user's share of it, has no place left. A later attempt may succeed."""

    code = ErrorCode.QUEUE_FULL


class RateLimited(SandtableError):
    """More requests than one user may send in so short a time. `retry_after_s` in its details says when to go on."""

    code = ErrorCode.RATE_LIMITED


class DataDamaged(SandtableError):
    code = ErrorCode.DATA_DAMAGED


class RunnerBroken(SandtableError):
    code = ErrorCode.RUNNER_INTERNAL_ERROR
