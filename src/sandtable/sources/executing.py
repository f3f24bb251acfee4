"""A connected database in which queries run: what its workers are opened for, and its errors in our words.

Invariant: a worker executes only after the preflight, because what a role may do can change. A login is read from the
records for every job, so a source that was disconnected or connected otherwise is not asked as before.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from sandtable.errors import ErrorCode, InvalidInput, SandtableError
from sandtable.quoting import quote
from sandtable.sandbox.job import JobError
from sandtable.sandbox.live.worker import LiveWorker, WorkerFailed
from sandtable.sources.preflight import require_reader
from sandtable.sources.records import Source, SourceRecords
from sandtable.sources.session import SourceSession, roots_of, started
from sandtable.sources.troubles import LONGEST, SourceRefused, SourceTimeout, said_without

_SETUP_S = 60.0
_AGAIN = "Nothing was changed. Ask again when the database runs."
_LATER = "Ask again later, or allow more connections for the role in the database."
_REFRESH = "The database was changed since it was read: refresh the dataset, then ask again."


class DatabaseUnavailable(SandtableError):
    """It cannot be asked now: not the fault of a query."""


class CredentialRefused(DatabaseUnavailable):
    """The password is wrong or has expired, or the role may not connect any more."""


class NoFreeConnection(DatabaseUnavailable):
    """The database or the role has as many connections as are allowed."""


@dataclass(frozen=True, slots=True)
class Login:
    source: Source
    password: str | None = field(repr=False)


class ExecutingSource:
    """Implements `sandbox.live.pool.Database`."""

    def __init__(self, records: SourceRecords, name: str) -> None:
        self._records = records
        self._name = name

    async def login(self) -> Login:
        return await asyncio.to_thread(self._read)

    def _read(self) -> Login:
        source = self._records.get(self._name)
        if source.kind != "postgresql":
            raise InvalidInput(
                f"queries do not run in source {quote(source.name)}, which is no PostgreSQL",
                suggestion="Copy its tables: sandtable data snapshot NAME.",
            )
        return Login(source, self._records.password(source))

    async def open(self, login: Login) -> LiveWorker:
        worker = await started(login.source)
        try:
            await self.reconnect(login, worker)
        except BaseException:
            await worker.aclose()
            raise
        return worker

    async def reconnect(self, login: Login, worker: LiveWorker) -> None:
        session = SourceSession(login.source, worker, login.password, _SETUP_S)
        roots = await asyncio.to_thread(roots_of, login.source)
        try:
            identity = await session.connect(roots)
            require_reader(await session.preflight(), identity, login.source)
            await session.watch()
        except SourceTimeout:
            raise DatabaseUnavailable(
                f"{login.source.place} does not answer", suggestion=_AGAIN, source=login.source.name
            ) from None
        except SourceRefused as refused:
            raise _unavailable(refused) from None

    def explain(self, login: Login, failed: WorkerFailed) -> JobError:
        source = login.source
        said = quote(said_without(failed.message, login.password), LONGEST)
        if failed.kind == "memory":
            return JobError(
                code=ErrorCode.RUNNER_RESOURCE_EXCEEDED,
                type="MemoryError",
                message="the run needed more memory than it may use",
                suggestion="Select fewer columns, or shorten long texts.",
            )
        if failed.kind != "database":
            kind, message = _lost(source, failed.kind)
            return JobError(
                code=ErrorCode.RUNNER_INTERNAL_ERROR,
                type=kind,
                message=f"{message}: {said}",
                suggestion=_AGAIN,
            )
        found = next((each for state, each in _ERRORS.items() if failed.state.startswith(state)), _OTHER)
        return JobError(
            code=found.code,
            type=found.type,
            message=f"the database {found.what}: {said} (SQLSTATE {failed.state})",
            suggestion=found.suggestion,
        )


def _lost(source: Source, kind: str) -> tuple[str, str]:
    if kind == "unsent":
        return "ConnectionLost", f"the connection to {source.place} was lost before the query ran"
    if kind == "connection":
        return "ConnectionLost", f"the connection to {source.place} was lost while the query ran"
    return "DriverFailed", f"the driver of source {quote(source.name)} failed"


@dataclass(frozen=True, slots=True)
class _Explained:
    code: ErrorCode
    type: str
    what: str
    suggestion: str


_CHANGED = _Explained(
    ErrorCode.VALIDATION_ERROR, "SchemaChanged", "has no longer what the query reads", _REFRESH
)
_STOPPED = _Explained(
    ErrorCode.RUNNER_INTERNAL_ERROR, "DatabaseStopped", "ended the connection while the query ran", _AGAIN
)
_BUSY = _Explained(
    ErrorCode.RUNNER_INTERNAL_ERROR, "DatabaseBusy", "could not run the query now", "Ask again."
)
_OTHER = _Explained(
    ErrorCode.VALIDATION_ERROR,
    "DatabaseError",
    "reports an error",
    "Correct it in the database, such as a view that fails, or ask for something else.",
)
_ERRORS: dict[str, _Explained] = {
    # Tables, columns, schemas, and functions or operators for the types that columns had.
    **dict.fromkeys(("42P01", "42703", "3F000", "42883", "42804", "42846"), _CHANGED),
    "42501": _Explained(
        ErrorCode.VALIDATION_ERROR,
        "PermissionDenied",
        "does not let the role read this",
        "Grant it: GRANT SELECT ON … TO the role, and USAGE on the schema.",
    ),
    "25006": _Explained(
        ErrorCode.VALIDATION_ERROR,
        "ReadOnly",
        "refuses to write in a query",
        "Use a view or a function that only reads.",
    ),
    "53300": _Explained(
        ErrorCode.RUNNER_INTERNAL_ERROR, "NoFreeConnection", "has no free connection", _LATER
    ),
    **dict.fromkeys(
        ("53", "54"),
        _Explained(
            ErrorCode.RUNNER_RESOURCE_EXCEEDED,
            "DatabaseExhausted",
            "needs more memory or disk space for the query than it may use",
            "Filter or aggregate earlier, or ask for less data at once.",
        ),
    ),
    "57014": _Explained(
        ErrorCode.RUNNER_INTERNAL_ERROR,
        "QueryEnded",
        "ended the query on request of somebody else",
        "Ask again.",
    ),
    "08P01": _OTHER,
    **dict.fromkeys(("57P", "08", "25P03"), _STOPPED),
    **dict.fromkeys(("40", "55P03"), _BUSY),
}
"""By the beginning of their SQLSTATE; the first that fits."""


def _unavailable(refused: SourceRefused) -> DatabaseUnavailable:
    """What a server says before it knows who asks has no SQLSTATE here."""
    lower = refused.message.lower()
    if any(word in lower for word in ("too many c", "connection slots")):
        return NoFreeConnection(refused.message, suggestion=_LATER, **refused.details)
    if any(word in lower for word in ("authentication failed", "not permitted to log in", "no pg_hba.conf")):
        return CredentialRefused(
            refused.message,
            suggestion="Connect the source again under the same name, with a password that is valid.",
            **refused.details,
        )
    return DatabaseUnavailable(refused.message, suggestion=refused.suggestion, **refused.details)
