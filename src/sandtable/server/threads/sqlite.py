"""Threads in one SQLite file of the home folder. One worker thread, WAL, every change synced to disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from sandtable.capsule.sqlite_errors import explained, too_new
from sandtable.capsule.sqlite_wal import use_wal
from sandtable.capsule.store import StoreUnavailable
from sandtable.runs.instance import Instance
from sandtable.server.threads.database import Statement
from sandtable.server.threads.schema import MIGRATIONS

T = TypeVar("T")

FILE = "conversations.db"
BUSY_TIMEOUT_S = 15.0


class SqliteDatabase:
    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._instance = Instance(home)
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None

    @property
    def owner(self) -> str:
        return self._instance.id

    async def open(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sandtable-threads")
        try:
            self._instance.acquire()
            await self._do(self._connect)
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.get_running_loop().run_in_executor(thread, self._disconnect)
            thread.shutdown()
        self._instance.release()

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return await self._do(lambda: [dict(row) for row in self._db.execute(sql, values)])

    async def change(self, *statements: Statement) -> list[int]:
        return await self._do(lambda: self._change(statements))

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        with self._instance.inherit(owner) as dead:
            yield dead

    # What follows runs on the worker thread.

    def _connect(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        self._connection = connection
        connection.row_factory = sqlite3.Row
        use_wal(connection, BUSY_TIMEOUT_S)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            connection.execute("ROLLBACK")
            raise too_new(self._path, version, len(MIGRATIONS))
        for step in MIGRATIONS[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def _db(self) -> sqlite3.Connection:
        assert self._connection is not None
        return self._connection

    def _change(self, statements: tuple[Statement, ...]) -> list[int]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            counts = [self._db.execute(sql, values).rowcount for sql, values in statements]
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        return counts

    async def _do(self, act: Callable[[], T]) -> T:
        if self._thread is None:
            raise StoreUnavailable("the thread store is closed", suggestion="Start the server again.")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, act)
        except (sqlite3.Error, OSError) as error:
            problem = explained(error, self._path)
            if problem is None:
                raise
            raise problem from error
