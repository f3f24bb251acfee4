"""Errors about a connected database, worded by us.

Invariant: what a database or a driver said is shown quoted and bounded, and not at all where it holds the password.
"""

from __future__ import annotations

import re

from sandtable.errors import ErrorCode, InvalidInput, RunnerBroken, SandtableError
from sandtable.quoting import quote
from sandtable.sandbox.live.worker import WorkerFailed
from sandtable.sources.records import Source

LONGEST = 300
_PREFIX = re.compile(
    r"^(connection failed: )?(connection to server at .*?, port \d+ failed: )?(FATAL: +)?", re.DOTALL
)


class SourceRefused(InvalidInput):
    """The database cannot be reached, or does not do what it is asked."""


class SourceTimeout(SandtableError):
    code = ErrorCode.RUNNER_TIMEOUT


class SourceTooMuch(SandtableError):
    code = ErrorCode.RUNNER_RESOURCE_EXCEEDED


def told(
    source: Source, failed: WorkerFailed, doing: str, unreachable: str, password: str | None
) -> SandtableError:
    """`doing`: such as `copying public.orders`. `unreachable`: why no connection could be made."""
    said = said_without(failed.message, password)
    if unreachable and failed.kind == "connection":
        return SourceRefused(
            f"{source.host} port {source.port} cannot be reached: {quote(unreachable, LONGEST)}",
            suggestion="Check host and port, and that the database accepts connections from this machine.",
        )
    if failed.kind == "connection":
        return _unconnected(source, doing, said)
    if failed.kind == "memory":
        return SourceTooMuch(
            f"the worker of source {quote(source.name)} ran out of memory while {doing}",
            suggestion="Leave the table with very long values out, or make a view without them.",
        )
    if failed.kind == "tables":
        return InvalidInput(
            f"the {source.known.account} can read more tables or columns than are looked at",
            suggestion=f"Connect with --schema, or as a {source.known.account} that can read less.",
        )
    if failed.kind == "nul":
        return SourceRefused(
            f"column {quote(said)} has a NUL character, which no text of a dataset has ({doing})",
            suggestion="Make a view without it, such as REPLACE(…, CHAR(0), ''), or leave this table out.",
        )
    if failed.kind == "database":
        if failed.state in source.known.timed_out:
            return timed_out(source, doing)
        what, suggestion = source.known.errors.get(
            failed.state, ("reports an error", "Correct it in the database, or leave this table out.")
        )
        return SourceRefused(
            f"the database {what} ({doing}): {quote(said, LONGEST)} ({source.known.error} {failed.state})",
            suggestion=suggestion,
            sqlstate=failed.state,
        )
    return RunnerBroken(
        f"the driver of source {quote(source.name)} failed while {doing}: {quote(said, LONGEST)}",
        suggestion="Try again; if it fails again, report it.",
    )


def _unconnected(source: Source, doing: str, said: str) -> SourceRefused:
    suggestion = f"Check the {source.known.account}, its password, and the name of the database."
    lower = said.lower()
    if "ssl" in lower or "certificate" in lower:
        suggestion = (
            "The connection must be encrypted, and the server's certificate signed for this host name. Name its"
            " authority's certificate with ?sslrootcert=FILE; on a network that you trust, add ?sslmode=require"
            " (encrypted, server unproven) or ?sslmode=disable to the address."
        )
    elif "require_auth" in lower or "authentication method" in lower:
        suggestion = (
            "The server asks for the password in the clear, which it gets only over a verified connection: add"
            " ?sslmode=verify-full to the address."
        )
    elif any(word in lower for word in ("closed the connection", "reset", "terminat", "lost connection")):
        suggestion = "Try again when the database runs."
    return SourceRefused(
        f"the connection to {source.place} failed while {doing}: {quote(said, LONGEST)}",
        suggestion=suggestion,
    )


def timed_out(source: Source, doing: str) -> SourceTimeout:
    return SourceTimeout(
        f"{doing[:1].upper()}{doing[1:]} took longer than it may",
        suggestion="Choose fewer or smaller tables, or raise SANDTABLE_SNAPSHOT_TIMEOUT_S.",
        source=source.name,
    )


def lost(source: Source, doing: str) -> RunnerBroken:
    return RunnerBroken(
        f"the worker of source {quote(source.name)} ended unexpectedly while {doing}",
        suggestion="Try again. Nothing was added or changed.",
        source=source.name,
    )


def said_without(message: str, password: str | None) -> str:
    said = _PREFIX.sub("", message).strip()
    return "(not shown)" if password and password in message else said
