"""The connections of a server to its Postgres database: a pool, and the presence.

Each user of the database opens it as a holder and closes it; the connections close with the last holder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier
from psycopg_pool import AsyncConnectionPool

from sandtable.capsule.canonical import plain
from sandtable.stopping import cancellations
from sandtable.store.postgres.errors import check_address, explained, too_new
from sandtable.store.postgres.presence import CONNECT_S, LOCKS, Presence, with_timeouts
from sandtable.store.run_store import StoreUnavailable

Connection = psycopg.AsyncConnection
Pool = AsyncConnectionPool[Connection]

CONNECTIONS = 10
_UPGRADING = 0x5A7E
_LOOK_AGAIN_S = 0.05
_PROBE_MS = 1000


class Postgres:
    def __init__(self, url: str) -> None:
        """Raises InvalidInput for an address that cannot be read."""
        check_address(url)
        self._url = url
        self.presence = Presence(url)
        self._pool: Pool | None = None
        self._holders: set[int] = set()
        self._changing = asyncio.Lock()

    @property
    def pool(self) -> Pool:
        if self._pool is None:
            raise StoreUnavailable("the Postgres database is closed", suggestion="Start again.")
        return self._pool

    async def open(self, holder: object) -> None:
        """Connect unless connected, and remember the holder. Raises StoreUnavailable."""
        async with self._changing:
            if self._pool is None:
                await self._connect()
            self._holders.add(id(holder))

    async def aclose(self, holder: object) -> None:
        async with self._changing:
            if id(holder) in self._holders:
                self._holders.discard(id(holder))
                if not self._holders:
                    await self._disconnect()

    async def _connect(self) -> None:
        self._pool = AsyncConnectionPool(
            with_timeouts(self._url),
            kwargs={"autocommit": True, "prepare_threshold": 0},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=float(CONNECT_S),
            check=AsyncConnectionPool.check_connection,
            open=False,
            name="sandtable",
        )
        try:
            with explained():
                await self.presence.open()
                await self._pool.open(wait=True, timeout=float(CONNECT_S))
        except BaseException:
            await self._disconnect()
            raise

    async def _disconnect(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()
        await self.presence.aclose()

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection, None]:
        """A connection in autocommit mode."""
        pool, before = self.pool, cancellations()
        with explained():
            async with pool.connection() as connection:
                yield connection
        if cancellations() > before:
            # The driver lost the cancellation (see `stopping`).
            raise asyncio.CancelledError

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        async with self.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(sql.encode(), storable(values))
            return await cursor.fetchall()

    async def probe(self, versions: str) -> None:
        """Read and write the table `versions`, and roll back. Raises StoreUnavailable, StoreCorrupt."""
        table = Identifier(versions)
        async with self.connection() as connection, connection.transaction(force_rollback=True):
            await connection.execute(SQL("SET LOCAL statement_timeout = {}").format(_PROBE_MS))
            await connection.execute(SQL("SELECT version FROM {}").format(table))
            await connection.execute(SQL("INSERT INTO {} VALUES (0)").format(table))

    @asynccontextmanager
    async def upgrading(self) -> AsyncGenerator[Connection, None]:
        """Wait until no other server changes the tables, and keep others waiting."""
        async with self.connection() as connection:
            # Poll instead of waiting in the database: creating an index waits for every running statement, and so for
            # a statement that waits for this lock.
            while True:
                if await _locked(connection):
                    break
                await asyncio.sleep(_LOOK_AGAIN_S)
            try:
                yield connection
            finally:
                await connection.execute("SELECT pg_advisory_unlock(%s, 0)", (_UPGRADING,))

    async def upgrade(self, versions: str, steps: Sequence[Sequence[str]]) -> None:
        """Bring tables up to date. The table `versions` records the steps that were applied."""
        table = Identifier(versions)
        async with self.upgrading() as connection, connection.transaction():
            await connection.execute(
                SQL("CREATE TABLE IF NOT EXISTS {} (version INTEGER NOT NULL)").format(table)
            )
            found = await connection.execute(SQL("SELECT coalesce(max(version), 0) FROM {}").format(table))
            done = sum(row[0] for row in await found.fetchall())
            if done > len(steps):
                raise too_new(done, len(steps))
            for number, step in enumerate(steps[done:], done + 1):
                for statement in step:
                    await connection.execute(statement.encode())
                await connection.execute(SQL("INSERT INTO {} VALUES (%s)").format(table), (number,))

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        """Yields True if the server `owner` is dead, to one server at a time."""
        async with self.connection() as connection:
            tried = await connection.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", (LOCKS, owner))
            got = await tried.fetchone() == (True,)
            try:
                yield got
            finally:
                if got:
                    await connection.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", (LOCKS, owner))


class PostgresLiveness:
    """Implements `runs.liveness.Liveness`: a server is alive while it holds the advisory lock of its id."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    @property
    def id(self) -> str:
        return self._postgres.presence.id

    @property
    def alive(self) -> bool:
        return self._postgres.presence.alive

    async def acquire(self) -> None:
        await self._postgres.open(self)

    async def release(self) -> None:
        await self._postgres.aclose(self)

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        async with self._postgres.inherit(owner) as dead:
            yield dead

    def others(self) -> list[str]:
        """Empty: the tables of runs and turns name every owner that left something unfinished."""
        return []

    def on_loss(self, tell: Callable[[], None]) -> None:
        self._postgres.presence.on_loss(tell)


def storable(values: Sequence[Any]) -> list[Any]:
    """Replace what a Postgres text cannot hold: NUL, and unpaired surrogates."""
    return [_text(value) if isinstance(value, str) else value for value in values]


def _text(value: str) -> str:
    return plain(value).replace("\0", "\N{REPLACEMENT CHARACTER}")


async def _locked(connection: Connection) -> bool:
    tried = await connection.execute("SELECT pg_try_advisory_lock(%s, 0)", (_UPGRADING,))
    return await tried.fetchone() == (True,)
