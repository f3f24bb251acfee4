"""One SQLite file in WAL mode, with its schema up to date, used from one worker thread.

Invariant: each piece of work is one function on that thread, so a cancelled task leaves no transaction open, and
transactions never interleave. SQLite's errors are raised as store errors.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from sandtable.private import private_database
from sandtable.store.run_store import StoreUnavailable
from sandtable.store.sqlite.errors import explained, replaced, too_new
from sandtable.store.tables import Statement

T = TypeVar("T")

BUSY_TIMEOUT_S = 15.0
_INCREMENTAL = 2
_PIECE = 500
"""Pages that one transaction returns to the file system."""
_PROBE_BUSY_S = 1.0

Identity = tuple[int, int]
"""Device and inode."""


class SqliteFile:
    def __init__(
        self, path: Path, migrations: Sequence[Sequence[str]], *, synchronous: Literal["FULL", "NORMAL"]
    ) -> None:
        self.path = path
        self._migrations = migrations
        self._synchronous = synchronous
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None
        self._opened: Identity | None = None

    async def open(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"sandtable-{self.path.stem}")
        try:
            await self.do(self._connect)
            self._opened = identity_of(self.path)
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.get_running_loop().run_in_executor(thread, self._disconnect)
            thread.shutdown()

    async def do(self, act: Callable[[], T]) -> T:
        """Run `act` on the worker thread. Raises StoreUnavailable, StoreCorrupt."""
        if self._thread is None:
            raise StoreUnavailable(f"{self.path.name} is closed", suggestion="Start again.")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, act)
        except (sqlite3.Error, OSError) as error:
            problem = explained(error, self.path)
            if problem is None:
                raise
            raise problem from error

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return await self.do(lambda: [dict(row) for row in self.db.execute(sql, values)])

    async def change(self, *statements: Statement) -> list[int]:
        """Execute all statements in one transaction. Returns how many rows each changed."""
        return await self.do(lambda: self._change(statements))

    async def probe(self) -> None:
        """Read and write the file without changing anything. Raises StoreUnavailable, StoreCorrupt.

        It does not wait for the worker thread, which may be busy for long.
        """
        await probe_file(self.path, self._opened)

    def require_in_place(self) -> None:
        """Raises StoreUnavailable if the open file was moved, deleted or replaced: SQLite would continue to write to
        it, and those writes would be lost."""
        if identity_of(self.path) != self._opened:
            raise replaced(self.path)

    # What follows runs on the worker thread.

    def _change(self, statements: Sequence[Statement]) -> list[int]:
        with self.transaction() as db:
            return [db.execute(sql, values).rowcount for sql, values in statements]

    @property
    def db(self) -> sqlite3.Connection:
        assert self._connection is not None
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise

    def _connect(self) -> None:
        private_database(self.path)
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        self._connection = connection
        connection.row_factory = sqlite3.Row
        # For a new file; `give_back` changes a file that was made without it.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        _use_wal(connection)
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        with self.transaction():
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > len(self._migrations):
                raise too_new(self.path, version, len(self._migrations))
            for step in self._migrations[version:]:
                for statement in step:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(self._migrations)}")

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log. Retry while another process holds the lock: SQLite's busy timeout does not cover a
    change of the journal mode."""
    give_up = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
        time.sleep(0.01)


def give_back(path: Path, *, whole: bool) -> int:
    """Return free space of a database to the file system. Returns the number of bytes. Blocks: use a thread.

    A file from an earlier version must be rewritten (`whole`) first; nothing else can write to it during that time.
    """
    before = _size(path)
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        if connection.execute("PRAGMA auto_vacuum").fetchone()[0] != _INCREMENTAL:
            if not whole:
                return 0
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")
        while connection.execute("PRAGMA freelist_count").fetchone()[0]:
            # In pieces, so that other connections can write in between. (`execute` would free a single page.)
            connection.executescript(f"PRAGMA incremental_vacuum({_PIECE})")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        problem = explained(error, path)
        raise problem or error from error
    finally:
        connection.close()
    return max(before - _size(path), 0)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def identity_of(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


_TABLES = """
    SELECT name FROM pragma_table_list
    WHERE schema = 'main' AND type = 'table' AND NOT wr AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
"""


async def probe_file(path: Path, opened: Identity | None) -> None:
    """Read and write a SQLite file over a separate connection without changing anything. `opened` identifies the file
    that is in use. Raises StoreUnavailable, StoreCorrupt."""
    try:
        await asyncio.to_thread(_probe, path, opened)
    except (sqlite3.Error, OSError) as error:
        problem = explained(error, path)
        if problem is None:
            raise
        raise problem from error


def _probe(path: Path, opened: Identity | None) -> None:
    if opened is None or identity_of(path) != opened:
        raise replaced(path)
    address = f"{path.resolve().as_uri()}?mode=rw"
    with closing(
        sqlite3.connect(address, timeout=_PROBE_BUSY_S, isolation_level=None, uri=True)
    ) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        for (name,) in connection.execute(_TABLES).fetchall():
            # The first and the last page of each table; damage between them is found when that page is read.
            for order in ("ASC", "DESC"):
                sql = f'SELECT 1 FROM "{name}" ORDER BY rowid {order} LIMIT 1'  # noqa: S608 - a table of ours
                connection.execute(sql).fetchall()
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        # Writing the same number is a write like any other.
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
