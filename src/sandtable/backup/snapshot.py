"""Copies of the SQLite databases of a home, all as they were at one moment, while other processes write to them.

The moment: for milliseconds, a lock on all of them keeps writers waiting while a read transaction begins on each. From
then on each copy reads its own snapshot, and writers go on.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from sandtable.backup.archive import Advance
from sandtable.errors import RunnerBroken
from sandtable.private import private_file
from sandtable.store.sqlite.errors import explained
from sandtable.store.sqlite.file import BUSY_TIMEOUT_S

_PAGES = 512


def copy_databases(found: Mapping[Path, Path], advance: Advance) -> dict[Path, int]:
    """Copies each database to a file, and returns the version of its tables.

    Raises StoreUnavailable, StoreCorrupt, and RunnerBroken where a copy is not sound.
    """
    versions: dict[Path, int] = {}
    with ExitStack() as stack:
        snapshots = stack.enter_context(_snapshots(list(found)))
        for path, connection in snapshots.items():
            with _explained(path):
                versions[path] = connection.execute("PRAGMA user_version").fetchone()[0]
            _copy(connection, path, found[path], advance)
    return versions


@contextmanager
def _snapshots(paths: Sequence[Path]) -> Iterator[dict[Path, sqlite3.Connection]]:
    with ExitStack() as stack:
        readers: dict[Path, sqlite3.Connection] = {}
        with ExitStack() as locks:
            for path in paths:
                with _explained(path):
                    # Closing it gives the lock back; nothing was written.
                    locks.enter_context(closing(_open(path))).execute("BEGIN IMMEDIATE")
            for path in paths:
                with _explained(path):
                    reader = readers[path] = stack.enter_context(closing(_open(path)))
                    reader.execute("BEGIN")
                    reader.execute("SELECT count(*) FROM sqlite_master").fetchall()
        yield readers


def _copy(source: sqlite3.Connection, path: Path, target: Path, advance: Advance) -> None:
    private_file(target)
    page = source.execute("PRAGMA page_size").fetchone()[0]
    before = 0

    def tell(_: int, remaining: int, total: int) -> None:
        nonlocal before
        done = (total - remaining) * page
        advance(done - before)
        before = done

    with _full_disk(target), closing(sqlite3.connect(target, isolation_level=None)) as copy:
        source.backup(copy, pages=_PAGES, progress=tell, sleep=0)
    with _explained(path), closing(sqlite3.connect(f"{target.as_uri()}?immutable=1", uri=True)) as copy:
        problems = [row[0] for row in copy.execute("PRAGMA quick_check(1)")]
    if problems != ["ok"]:
        raise RunnerBroken(
            f"the database {path} is damaged: {problems[0]}",
            suggestion="Restore an earlier backup, or move the database aside; nothing was backed up.",
        )


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=rw", timeout=BUSY_TIMEOUT_S, isolation_level=None, uri=True)


@contextmanager
def _full_disk(path: Path) -> Iterator[None]:
    """Raises OSError for a copy that cannot be written."""
    try:
        yield
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL:
            raise OSError(errno.ENOSPC, "no space is left", str(path)) from error
        raise explained(error, path) or error from error


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise explained(error, path) or error from error
