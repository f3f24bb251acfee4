"""Tables of connected databases on their way to datasets: what imports need of `sources`, when they were copied, and
errors of databases as clients of a server can act on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Protocol

from sandtable.catalog.reading.filenames import NamedFile
from sandtable.catalog.stored.source import Progress
from sandtable.errors import InvalidInput
from sandtable.imports.model import ImportRecord
from sandtable.quoting import quote


class Copies(Protocol):
    """What `Imports` needs of `assemble.sources.LoadedCopies`."""

    def copied(
        self, name: str, owner: str, tables: Sequence[str], progress: Progress
    ) -> AbstractAsyncContextManager[Sequence[NamedFile]]:
        """Copies of these tables of a connected database, which are removed at the end. Raises NotFound where it does
        not belong to `owner` any more, and what a database or its worker can answer."""
        ...


def require_not_copied(source: str, records: Iterable[ImportRecord]) -> None:
    """Raises InvalidInput where an import copies this database already."""
    if source and any(r.order.source == source and not r.shown.ended for r in records):
        raise InvalidInput(
            f"tables of {quote(source)} are being copied already",
            suggestion="Wait for that import, or cancel it; GET /imports shows it.",
        )


def copied_at(source: str, records: Iterable[ImportRecord]) -> str | None:
    """When the last of these imports that copied the database was ready."""
    times = [r.changed_at for r in records if r.order.source == source and r.shown.state == "ready"]
    return datetime.fromtimestamp(max(times), UTC).isoformat(timespec="seconds") if times else None


def for_clients(error: InvalidInput) -> InvalidInput:
    """The same error with what a client can do, where the suggestion is one for the command line."""
    if "grants" in error.details:
        suggestion = (
            "Connect as a role that can only read; the statements in `grants` make one. To use this role all the same,"
            " connect with its name as `allow_writer`."
        )
    elif "sslrootcert" in error.suggestion:
        suggestion = (
            "The connection must be encrypted, and the server's certificate signed for this host name by an authority"
            " that this server knows. On a network that you trust, add ?sslmode=require (encrypted, server unproven)"
            " or ?sslmode=disable to the address."
        )
    else:
        return error
    return type(error)(error.message, suggestion=suggestion, **error.details)
