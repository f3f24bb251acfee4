"""SQLite errors become store errors that say what to do."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from sandtable.store.run_store import StoreCorrupt, StoreFull, StoreUnavailable

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNUSABLE = {
    sqlite3.SQLITE_BUSY: "another process keeps it locked",
    sqlite3.SQLITE_LOCKED: "another process keeps it locked",
    sqlite3.SQLITE_IOERR: "the disk does not answer",
    sqlite3.SQLITE_READONLY: "it may only be read",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "access is denied",
}

StoreProblem = StoreCorrupt | StoreUnavailable


def explained(error: sqlite3.Error | OSError, path: Path) -> StoreProblem | None:
    """The error to raise; None if only a bug of ours can be the cause."""
    if isinstance(error, OSError):
        return _full(path) if error.errno == errno.ENOSPC else _unusable(path, error.strerror or str(error))
    # The low byte is the primary code, the rest the extended one.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _CORRUPT:
        return StoreCorrupt(
            f"the database {path} is damaged: {error}",
            suggestion=f"Stop Sandtable, move {path} (and its -wal and -shm files) aside, and restore a "
            "backup; without one a new, empty database is made.",
        )
    if code == sqlite3.SQLITE_FULL:
        return _full(path)
    if code in _UNUSABLE:
        return _unusable(path, _UNUSABLE[code])
    return None


def too_new(path: Path, found: int, known: int) -> StoreUnavailable:
    return StoreUnavailable(
        f"the database {path} has schema version {found}, and this Sandtable supports versions up to {known}",
        suggestion="Use the newer Sandtable that made it, or another SANDTABLE_HOME.",
    )


def replaced(path: Path) -> StoreUnavailable:
    return StoreUnavailable(
        f"the database {path} was moved, deleted or replaced while Sandtable uses it",
        suggestion="Put it back, or restart Sandtable to begin with what is there now.",
    )


def _full(path: Path) -> StoreFull:
    return StoreFull(
        f"no space is left for the database {path}",
        suggestion=f"Free space on the disk that holds {path.parent}; accepted runs are kept and go on then.",
    )


def _unusable(path: Path, why: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"the database {path} cannot be used: {why}",
        suggestion=f"Check that {path.parent} exists, may be written and is on a local disk.",
    )
