"""Postgres errors become store errors that say what to do.

Invariant: no message contains the address of the database, which may contain a password.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout

from sandtable.errors import InvalidInput
from sandtable.store.run_store import StoreCorrupt, StoreFull, StoreUnavailable

_CORRUPT = (errors.DataCorrupted, errors.IndexCorrupted)
_NOT_OURS = (errors.InsufficientPrivilege, errors.UndefinedTable, errors.InvalidSchemaName)
_UNUSABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    errors.ReadOnlySqlTransaction,
    errors.IdleInTransactionSessionTimeout,
    PoolTimeout,
    PoolClosed,
)


@contextmanager
def explained() -> Generator[None, None, None]:
    """Raise StoreUnavailable, StoreFull or StoreCorrupt for failures of the database. Bugs of ours pass unchanged."""
    try:
        yield
    except errors.DiskFull as error:
        raise StoreFull(
            f"no space is left for the Postgres database: {_said(error)}",
            suggestion="Free space where Postgres keeps its data; accepted runs are kept and go on then.",
        ) from None
    except _CORRUPT as error:
        raise StoreCorrupt(
            f"the Postgres database is damaged: {_said(error)}",
            suggestion="Stop Sandtable and restore the database from a backup.",
        ) from None
    except _NOT_OURS as error:
        raise StoreUnavailable(
            f"the Postgres database does not let Sandtable use its tables: {_said(error)}",
            suggestion="Give the user of SANDTABLE_DATABASE_URL its own database or schema; missing tables"
            " are created at the next start.",
        ) from None
    except _UNUSABLE as error:
        raise StoreUnavailable(
            f"the Postgres database cannot be used: {_said(error)}",
            suggestion="Check that it runs and that SANDTABLE_DATABASE_URL names it rightly.",
        ) from None


def too_new(found: int, known: int) -> StoreUnavailable:
    return StoreUnavailable(
        f"the Postgres database has schema version {found}, and this Sandtable supports versions up to {known}",
        suggestion="Use the newer Sandtable that made it, or another database.",
    )


def check_address(url: str) -> None:
    """Raises InvalidInput for an unreadable address. The driver's own error would quote it with the password."""
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        raise InvalidInput(
            "SANDTABLE_DATABASE_URL cannot be read as the address of a Postgres database",
            suggestion="Write it like postgresql://user:password@host:5432/name,"
            " with special characters percent-encoded.",
        ) from None


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
