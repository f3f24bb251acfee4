"""A set of tables in Postgres with its own schema version, over the connection pool of runs and checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sandtable.store.postgres.pool import Postgres, storable
from sandtable.store.postgres.presence import CHANNEL
from sandtable.store.tables import Statement


class PostgresTables:
    def __init__(self, postgres: Postgres, versions: str, migrations: Sequence[Sequence[str]]) -> None:
        """`versions` is the table that holds the schema version of these tables."""
        self.postgres = postgres
        self._versions = versions
        self._migrations = migrations

    async def open(self) -> None:
        await self.postgres.open(self)
        try:
            await self.postgres.upgrade(self._versions, self._migrations)
        except BaseException:
            await self.postgres.aclose(self)
            raise

    async def aclose(self) -> None:
        await self.postgres.aclose(self)

    async def probe(self) -> None:
        await self.postgres.probe(self._versions)

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return await self.postgres.rows(_translated(sql), *values)

    async def change(self, *statements: Statement, notify: Iterable[str] = ()) -> list[int]:
        """The notifications are sent when the transaction is committed."""
        async with self.postgres.connection() as connection, connection.transaction():
            changed = [
                (await connection.execute(_translated(sql).encode(), storable(values))).rowcount
                for sql, values in statements
            ]
            for payload in notify:
                await connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, payload))
            return changed


def _translated(sql: str) -> str:
    return sql.replace("?", "%s")
