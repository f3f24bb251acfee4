"""Why a job cannot reach its service, sorted by remedy: waiting, asking another replica, or a person.

Each of these becomes SandboxUnavailable when it does not pass.
"""

from __future__ import annotations

from typing import Any

from sandtable.errors import (
    ErrorCode,
    InvalidInput,
    Problem,
    RunnerBroken,
    SandboxUnavailable,
    SandtableError,
)


class Passing(SandboxUnavailable):
    """Temporary: a retry may succeed."""

    pause_s: float | None = None
    """How long the service asks clients to wait."""


class Unreachable(Passing):
    """No connection to the service, or a proxy that has none."""


class Full(Passing):
    """The service has no free slot."""


class Unlike(Passing):
    """A replica that differs from the one this server was set up with."""


class ConnectionLost(Exception):
    """The connection broke after the request was sent: its outcome is unknown."""


class UnknownJob(Exception):
    """This replica has no such job."""

    def __init__(self, replica: str) -> None:
        super().__init__(replica)
        self.replica = replica


def unreachable(url: str, reason: str) -> Unreachable:
    return Unreachable(
        f"the execution service at {url} cannot be reached: {reason}",
        suggestion="Start it there with `sandtable execd`, or correct SANDTABLE_EXECD_URL",
    )


def unproven(url: str, status: int) -> SandboxUnavailable:
    if status in (502, 503, 504):
        return unreachable(url, f"something before it answered {status}")
    return SandboxUnavailable(
        f"the service at {url} could not prove that it holds our token (it answered {status})",
        suggestion="Set SANDTABLE_EXECD_TOKEN to the same value for this server and for `sandtable execd`, and check"
        " that SANDTABLE_EXECD_URL is the address of `sandtable execd`",
    )


def misunderstood(url: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"the execution service at {url} sent an answer that this server cannot read",
        suggestion="Install the same version of Sandtable on both sides",
    )


def other_protocol(url: str, theirs: int, ours: int, version: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"the execution service at {url} uses protocol {theirs} (Sandtable {version}), this server {ours}",
        suggestion="Install the same version of Sandtable on both sides",
    )


def error_from(url: str, problem: Problem) -> SandtableError | UnknownJob:
    """The authenticated service's error as an exception."""
    details: dict[str, Any] = problem.details
    why = details.get("why")
    if why == "unknown_job":
        return UnknownJob(str(details.get("replica", "")))
    message = f"the execution service at {url}: {problem.message}"
    if why in ("full", "unlike"):
        passing = (Full if why == "full" else Unlike)(message, suggestion=problem.suggestion, **details)
        pause = details.get("retry_after_s")
        passing.pause_s = float(pause) if isinstance(pause, int | float) else None
        return passing
    if problem.code in (ErrorCode.SANDBOX_UNAVAILABLE, ErrorCode.UNAUTHORIZED):
        return SandboxUnavailable(message, suggestion=problem.suggestion, **details)
    kind = InvalidInput if problem.code is ErrorCode.VALIDATION_ERROR else RunnerBroken
    return kind(message, suggestion=problem.suggestion, **details)
