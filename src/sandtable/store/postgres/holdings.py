"""What the Postgres store holds, and how runs are removed: see `store.holdings`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg.rows import dict_row

from sandtable.capsule.canonical import digest
from sandtable.store.holdings import Holding, Removal, staying
from sandtable.store.postgres.pool import Connection, Postgres, storable

_ALONE = 0x5A7F
"""The class of the advisory lock that a server holds while it removes runs."""

_RUNS = """
    SELECT id, coalesce(finished_at, created_at) AS at, status NOT IN ('pending', 'running') AS ended, bytes,
        result_of, session
    FROM sandtable_runs
"""
# Lock the rows: a `finish` that refers to one of them waits, and then finds it removed.
_ROWS = "SELECT id, status, result_of, session FROM sandtable_runs WHERE id = ANY(%(ids)s) FOR UPDATE"
_NEEDED = """
    SELECT DISTINCT result_of AS id FROM sandtable_runs
    WHERE result_of = ANY(%(ids)s) AND id <> ALL(%(ids)s)
"""
_SESSIONS = """
    SELECT DISTINCT session AS id FROM sandtable_runs WHERE id <> ALL(%(ids)s) AND session IN (
        SELECT session FROM sandtable_runs WHERE id = ANY(%(ids)s) AND session IS NOT NULL)
"""
_ENVELOPES = "SELECT run_id, envelope FROM sandtable_capsules WHERE run_id = ANY(%s)"
_RECORD = """
    INSERT INTO sandtable_removals (run_id, removed_at, rule, user_name, dataset_id, capsule)
    SELECT id, %s, %s, user_name, dataset_id, %s FROM sandtable_runs WHERE id = %s
"""
_DELETE = (
    "DELETE FROM sandtable_results WHERE run_id = ANY(%s)",
    "DELETE FROM sandtable_capsules WHERE run_id = ANY(%s)",
    "DELETE FROM sandtable_runs WHERE id = ANY(%s)",
)
_REMOVAL = """
    SELECT run_id, removed_at, rule, user_name AS user, dataset_id, capsule FROM sandtable_removals WHERE run_id = %s
"""
_BYTES = "SELECT coalesce(sum(bytes), 0)::BIGINT AS n FROM sandtable_runs WHERE user_name = %s"


class PostgresHoldings:
    def __init__(self, postgres: Postgres) -> None:
        self._db = postgres

    async def runs(self) -> list[Holding]:
        return [Holding(**row) for row in await self._db.rows(_RUNS)]

    async def remove(self, run_ids: Sequence[str], at: str, rule: str) -> list[str]:
        ids = storable(run_ids)
        found = await self._db.rows(_ENVELOPES, ids)
        # Envelopes do not change, so digest them before the transaction makes others wait.
        capsules = {row["run_id"]: digest(json.loads(row["envelope"])) for row in found}
        async with self._db.connection() as connection, connection.transaction():
            rows = {
                row["id"]: (row["status"] not in ("pending", "running"), row["result_of"], row["session"])
                for row in await _found(connection, _ROWS, ids)
            }
            needed = [row["id"] for row in await _found(connection, _NEEDED, ids)]
            sessions = [row["id"] for row in await _found(connection, _SESSIONS, ids)]
            gone = sorted(rows.keys() - staying(rows, needed, sessions))
            for run_id in gone:
                await connection.execute(_RECORD, (at, rule, capsules[run_id], run_id))
            for delete in _DELETE:
                await connection.execute(delete, (gone,))
        return gone

    async def removal(self, run_id: str) -> Removal | None:
        found = await self._db.rows(_REMOVAL, run_id)
        return Removal(**found[0]) if found else None

    async def bytes_of(self, user: str) -> int:
        return (await self._db.rows(_BYTES, user))[0]["n"]

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[bool, None]:
        async with self._db.connection() as connection:
            tried = await connection.execute("SELECT pg_try_advisory_lock(%s, 0)", (_ALONE,))
            got = await tried.fetchone() == (True,)
            try:
                yield got
            finally:
                if got:
                    await connection.execute("SELECT pg_advisory_unlock(%s, 0)", (_ALONE,))


async def _found(connection: Connection, sql: str, ids: list[Any]) -> list[dict[str, Any]]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(sql.encode(), {"ids": ids})
        return await cursor.fetchall()
