"""Threads in a Postgres database, over the connection pool of runs and checkpoints."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from sandtable.conversations.database import Statement
from sandtable.conversations.schema import MIGRATIONS
from sandtable.store.postgres.pool import Postgres, storable
from sandtable.store.postgres.presence import CHANNEL, MISSED

VERSIONS = "sandtable_schema"


class PostgresDatabase:
    notifies = True

    def __init__(self, postgres: Postgres) -> None:
        self.postgres = postgres

    @property
    def owner(self) -> str:
        return self.postgres.presence.id

    async def open(self) -> None:
        await self.postgres.open(self)
        try:
            await self.postgres.upgrade(VERSIONS, MIGRATIONS)
        except BaseException:
            await self.postgres.aclose(self)
            raise

    async def aclose(self) -> None:
        await self.postgres.aclose(self)

    async def probe(self) -> None:
        await self.postgres.probe(VERSIONS)

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return await self.postgres.rows(_ours(sql), *values)

    async def change(self, *statements: Statement, notify: Iterable[str] = ()) -> list[int]:
        async with self.postgres.connection() as connection, connection.transaction():
            changed = [
                (await connection.execute(_ours(sql).encode(), storable(values))).rowcount
                for sql, values in statements
            ]
            for payload in notify:
                await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, payload))
            return changed

    def listen(self, receive: Callable[[str | None], None]) -> None:
        self.postgres.presence.subscribe(lambda payload: receive(None if payload == MISSED else payload))

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        async with self.postgres.inherit(owner) as dead:
            yield dead


def _ours(sql: str) -> str:
    return sql.replace("?", "%s")
