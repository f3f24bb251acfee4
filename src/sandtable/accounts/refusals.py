"""Why a request is not answered, for reasons of identity. Expected by callers: each has its own HTTP status."""

from __future__ import annotations

from sandtable.errors import ErrorCode, SandtableError
from sandtable.runs.pace import RETRY_AFTER


class NotProven(SandtableError):
    """No identity was proven, or what was sent proves none (401)."""

    code = ErrorCode.UNAUTHORIZED


class NotAllowed(SandtableError):
    """The identity is known, and may not do this (403)."""

    code = ErrorCode.UNAUTHORIZED


class TooManyAttempts(SandtableError):
    """Too many failed attempts to sign in (429)."""

    code = ErrorCode.UNAUTHORIZED

    def __init__(self, wait_s: int) -> None:
        super().__init__(
            "there were too many failed attempts to sign in",
            suggestion=f"Wait {wait_s} seconds and try again.",
            **{RETRY_AFTER: wait_s},
        )
        self.wait_s = wait_s


class ProviderRefused(SandtableError):
    """The identity provider, or what a browser brought from it, proves no identity: the person sees that signing in did
    not work, the log why."""

    code = ErrorCode.UNAUTHORIZED
