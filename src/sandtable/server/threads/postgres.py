"""Threads in a Postgres database, over the connections that runs and LangGraph's checkpoints use, too."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from sandtable.server.threads.database import Statement
from sandtable.server.threads.schema import MIGRATIONS
from sandtable.store.postgres.pool import Postgres, storable
from sandtable.store.postgres.presence import CHANNEL, MISSED

VERSIONS = "sandtable_schema"


class PostgresDatabase:
    tells = True

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

    async def change(self, *statements: Statement, tell: Iterable[str] = ()) -> list[int]:
        async with self.postgres.connection() as connection, connection.transaction():
            changed = [
                (await connection.execute(_ours(sql).encode(), storable(values))).rowcount
                for sql, values in statements
            ]
            for said in tell:
                await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, said))
            return changed

    def listen(self, hear: Callable[[str | None], None]) -> None:
        self.postgres.presence.subscribe(lambda said: hear(None if said == MISSED else said))

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        async with self.postgres.inherit(owner) as dead:
            yield dead


def _ours(sql: str) -> str:
    return sql.replace("?", "%s")
