"""Threads in a Postgres database, over a pool that LangGraph's checkpoints share.

Invariant: neither an error nor a log line of ours holds the address, which may hold a password.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from sandtable.capsule.store import StoreUnavailable
from sandtable.errors import InvalidInput
from sandtable.server.threads.database import Statement
from sandtable.server.threads.schema import MIGRATIONS

Connection = psycopg.AsyncConnection

POOL = 8
CONNECT_S = 10.0
_LOCKS = 0x5A7D
"""The class of our advisory locks; one per living server."""
_UPGRADING = 0x5A7E


class PostgresDatabase:
    def __init__(self, url: str) -> None:
        _check(url)
        self.pool = AsyncConnectionPool(
            url,
            kwargs={"autocommit": True, "prepare_threshold": 0, "connect_timeout": int(CONNECT_S)},
            min_size=1,
            max_size=POOL,
            timeout=CONNECT_S,
            check=AsyncConnectionPool.check_connection,
            open=False,
            name="threads",
        )
        self._url = url
        self._anchor: Connection | None = None
        self.owner = secrets.token_hex(8)

    async def open(self) -> None:
        try:
            with _explained():
                self._anchor = await Connection.connect(
                    self._url, autocommit=True, connect_timeout=int(CONNECT_S)
                )
                await self._anchor.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", (_LOCKS, self.owner))
                await self.pool.open(wait=True, timeout=CONNECT_S)
                async with self.upgrading() as connection:
                    await _upgrade(connection)
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        await self.pool.close()
        anchor, self._anchor = self._anchor, None
        if anchor is not None:
            await anchor.close()

    @asynccontextmanager
    async def upgrading(self) -> AsyncGenerator[Connection, None]:
        """One server at a time changes the tables; the others wait here."""
        async with self.pool.connection() as connection:
            await connection.execute("SELECT pg_advisory_lock(%s, 0)", (_UPGRADING,))
            try:
                yield connection
            finally:
                await connection.execute("SELECT pg_advisory_unlock(%s, 0)", (_UPGRADING,))

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        with _explained():
            async with self.pool.connection() as connection, connection.cursor(row_factory=dict_row) as rows:
                return await (await rows.execute(_ours(sql), values)).fetchall()

    async def change(self, *statements: Statement) -> list[int]:
        with _explained():
            async with self.pool.connection() as connection, connection.transaction():
                return [(await connection.execute(_ours(sql), values)).rowcount for sql, values in statements]

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        """A server holds the lock of its name as long as its connection, and so its process, lives."""
        async with self.pool.connection() as connection:
            tried = await connection.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", (_LOCKS, owner))
            got = await tried.fetchone() == (True,)
            try:
                yield got
            finally:
                if got:
                    await connection.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", (_LOCKS, owner))


async def _upgrade(connection: Connection) -> None:
    async with connection.transaction():
        await connection.execute("CREATE TABLE IF NOT EXISTS sandtable_schema (version INTEGER NOT NULL)")
        found = await connection.execute("SELECT coalesce(max(version), 0) FROM sandtable_schema")
        version = sum(row[0] for row in await found.fetchall())
        if version > len(MIGRATIONS):
            raise StoreUnavailable(
                f"the Postgres database has schema version {version}, and this Sandtable knows versions"
                f" up to {len(MIGRATIONS)}",
                suggestion="Use the newer Sandtable that made it, or another database.",
            )
        for number, step in enumerate(MIGRATIONS[version:], version + 1):
            for statement in step:
                await connection.execute(_ours(statement))
            await connection.execute("INSERT INTO sandtable_schema VALUES (%s)", (number,))


@contextmanager
def _explained() -> Generator[None, None, None]:
    """The database's own trouble in words that say what to do."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout) as error:
        raise StoreUnavailable(
            f"the Postgres database cannot be used: {' '.join(str(error).split()) or type(error).__name__}",
            suggestion="Check that it runs and that SANDTABLE_DATABASE_URL names it rightly.",
        ) from None


def _check(url: str) -> None:
    """The driver would quote an address that it cannot read, password and all."""
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        raise InvalidInput(
            "SANDTABLE_DATABASE_URL cannot be read as the address of a Postgres database",
            suggestion="Write it like postgresql://user:password@host:5432/name,"
            " with special characters percent-encoded.",
        ) from None


def _ours(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()
