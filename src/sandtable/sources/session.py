"""One worker, connected to one source: typed requests, validated answers, errors for people."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sandtable.catalog.live import Read
from sandtable.catalog.stored.source import read_file
from sandtable.engines.landing import Measure, Measured
from sandtable.errors import InvalidInput, RunnerBroken, SandtableError
from sandtable.quoting import quote
from sandtable.sandbox.live.relay import Target
from sandtable.sandbox.live.worker import LiveWorker, Sink, WorkerFailed, WorkerLost
from sandtable.sources import troubles
from sandtable.sources.address import is_here
from sandtable.sources.answers import Copied, Counts, FoundTable, FoundTables, Identity, Preflight
from sandtable.sources.records import Source

M = TypeVar("M", bound=BaseModel)

_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
"""Where Linux distributions keep the certificates of all authorities in one file."""
_CONNECT_S = 20
_CATALOG_S = 60.0
_SLACK_S = 5.0
"""A statement that takes too long is ended by the database, which says so, before the worker is killed."""


class SourceSession:
    def __init__(self, source: Source, worker: LiveWorker, password: str | None, timeout_s: float) -> None:
        self._source = source
        self._worker = worker
        self._password = password
        self._timeout_s = timeout_s

    async def connect(self, roots: str) -> Identity:
        source = self._source
        request = {
            "host": source.host,
            "here": is_here(source.host),
            "user": source.role,
            "password": self._password or "",
            "database": source.database,
            "sslmode": source.sslmode,
            "roots": roots,
            "connect_s": _CONNECT_S,
            "statement_ms": int(self._timeout_s * 1000),
        }
        return await self._ask("connect", request, "connecting", Identity, 2 * _CONNECT_S)

    async def watch(self) -> None:
        """From here on, the database ends a statement soon after its worker was killed."""
        await self._ask("watch", {}, "setting the connection up", None, _CATALOG_S)

    async def preflight(self) -> Preflight:
        request = {"schemas": [self._source.only_schema] if self._source.only_schema else []}
        return await self._ask("preflight", request, "checking what the role can do", Preflight, _CATALOG_S)

    async def begin(self) -> None:
        """From here on, all answers are about one state of the database."""
        await self._ask("begin", {}, "beginning to read", None, _CATALOG_S)

    async def tables(self) -> list[FoundTable]:
        request = {"schemas": [self._source.only_schema] if self._source.only_schema else None}
        return (
            await self._ask("fetch_schema", request, "reading the catalog", FoundTables, _CATALOG_S)
        ).tables

    async def measure(self, table: FoundTable, asked: Sequence[tuple[str, Measure]]) -> dict[str, Measured]:
        """By column."""
        if not asked:
            return {}
        request = {
            "schema": table.db_schema,
            "table": table.name,
            "columns": [{"name": name, "kind": kind} for name, kind in asked],
        }
        counts = await self._ask("measure", request, f"counting in {table.shown}", Counts, self._long)
        if len(counts.columns) != len(asked):
            raise self._disagreed("counting")
        return {
            name: Measured.of(kind, (found[0], found[1], found[2]))
            for (name, kind), found in zip(asked, counts.columns, strict=True)
        }

    async def copy(self, table: FoundTable, columns: Sequence[tuple[str, Read]], sink: Sink) -> Copied:
        request = {
            "schema": table.db_schema,
            "table": table.name,
            "columns": [{"name": name, "read": read} for name, read in columns],
        }
        return await self._ask("copy_table", request, f"copying {table.shown}", Copied, self._long, sink)

    @property
    def _long(self) -> float:
        return self._timeout_s + _SLACK_S

    async def _ask(
        self,
        op: str,
        request: dict[str, Any],
        doing: str,
        answer: type[M] | None,
        within_s: float,
        sink: Sink | None = None,
    ) -> M:
        try:
            found = await self._worker.ask(op, request, within_s=within_s, sink=sink)
        except WorkerFailed as failed:
            raise troubles.told(
                self._source, failed, doing, self._worker.unreachable, self._password
            ) from None
        except TimeoutError:
            raise troubles.timed_out(self._source, doing) from None
        except WorkerLost:
            raise troubles.lost(self._source, doing) from None
        if answer is None:
            return found
        try:
            return answer.model_validate(found)
        except ValidationError:
            raise self._disagreed(doing) from None

    def _disagreed(self, doing: str) -> SandtableError:
        return RunnerBroken(
            f"the answer of the worker of source {quote(self._source.name)} while {doing} is not in the agreed form",
            suggestion="Try again; if it fails again, report it.",
        )


@asynccontextmanager
async def opened(
    source: Source, password: str | None, timeout_s: float
) -> AsyncGenerator[tuple[SourceSession, Identity], None]:
    """A connected session; its worker is killed at the end, whatever it does then."""
    roots = await asyncio.to_thread(roots_of, source)
    worker = await started(source)
    try:
        session = SourceSession(source, worker, password, timeout_s)
        yield session, await session.connect(roots)
    finally:
        await worker.aclose()


async def started(source: Source) -> LiveWorker:
    """A worker that is not connected yet."""
    host = source.host
    target = Target(source.known.socket(host, source.port) if host.startswith("/") else host, source.port)
    return await LiveWorker.start(source.kind, target)


def roots_of(source: Source) -> str:
    """The certificates that may sign the server's; the worker sees no file of this machine."""
    if not source.sslmode.startswith("verify-"):
        return ""
    known = (ssl.get_default_verify_paths().cafile, *_BUNDLES)
    named = source.roots or next((path for path in known if path and Path(path).is_file()), None)
    if named is None:
        raise InvalidInput(
            "this machine has no file with the certificates of authorities",
            suggestion="Name one in the address: ?sslrootcert=FILE.",
        )
    try:
        return read_file(Path(named).resolve()).decode("ascii", "ignore")
    except OSError as error:
        raise InvalidInput(
            f"the certificates in {named} cannot be read: {error.strerror or error}",
            suggestion="Name a file of certificates in the address: ?sslrootcert=FILE.",
        ) from error
