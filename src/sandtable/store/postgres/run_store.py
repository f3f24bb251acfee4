"""The store in a Postgres database that servers share.

Each operation is one statement or one transaction. Other servers are notified when it is committed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from psycopg.errors import ForeignKeyViolation

from sandtable.store.postgres import statements as sql
from sandtable.store.postgres.holdings import PostgresHoldings
from sandtable.store.postgres.migrations import MIGRATIONS, VERSIONS
from sandtable.store.postgres.pool import Postgres, storable
from sandtable.store.postgres.presence import MISSED
from sandtable.store.rows import Stored, conditions, record_of
from sandtable.store.run_store import (
    ANY_ORDER,
    Ending,
    Fairness,
    HolderGone,
    RunFilter,
    RunNews,
    RunRecord,
    over_share,
    queue_full,
)

_USER = "user_name"


class PostgresStore:
    shared = True

    def __init__(self, postgres: Postgres) -> None:
        self._db = postgres
        self.holdings = PostgresHoldings(postgres)

    async def open(self) -> None:
        await self._db.open(self)
        try:
            await self._db.upgrade(VERSIONS, MIGRATIONS)
        except BaseException:
            await self._db.aclose(self)
            raise

    async def aclose(self) -> None:
        await self._db.aclose(self)

    async def probe(self) -> None:
        await self._db.probe(VERSIONS)

    def subscribe(self, tell: Callable[[RunNews], None]) -> None:
        def on_payload(payload: str) -> None:
            match payload.split(" "):
                case [word] if word == MISSED:
                    tell(RunNews("missed"))
                case ["run", "work", *by]:
                    tell(RunNews("work", owner=by[0] if by else None))
                case ["run", "ended" | "cancel" as kind, run_id]:
                    tell(RunNews(kind, run_id))
                case _:
                    return

        self._db.presence.subscribe(on_payload)

    async def accept(self, record: RunRecord, queue_limit: int, user_limit: int | None = None) -> None:
        values = (
            record.id,
            record.owner,
            record.pinned,
            record.user,
            record.dataset_id,
            record.created_at,
            record.search,
            json.dumps(record.body),
            record.session,
            queue_limit,
            record.user,
            queue_limit if user_limit is None else user_limit,
        )
        async with self._db.connection() as connection, connection.transaction():
            await connection.execute(sql.IN_LINE)
            made = await connection.execute(sql.ACCEPT, storable(values))
            if made.rowcount:
                return
            counted = await connection.execute(sql.WAITING, storable((record.user,)))
            waiting, own = (await counted.fetchall())[0]
        if waiting >= queue_limit:
            raise queue_full(waiting)
        raise over_share(record.user, f"{own} runs waiting")

    async def claim(
        self, owner: str, started_at: str, fair: Fairness = ANY_ORDER, *, anyones: bool = False
    ) -> RunRecord | None:
        order = (fair.cells, fair.each, list(storable(tuple(fair.lately))))
        values = (started_at, owner, owner, owner, anyones, owner, *order)
        return _first(await self._db.rows(sql.CLAIM, *values))

    async def finish(self, ending: Ending) -> bool:
        stored = Stored.of(ending)
        values = (
            ending.status,
            ending.finished_at,
            stored.body,
            ending.cache_key,
            ending.result_of,
            ending.session,
            stored.size,
            ending.id,
            ending.owner,
            ending.expected,
            ending.finished_at,
            stored.envelope,
            stored.result,
        )
        try:
            return bool(await self._db.rows(sql.FINISH, *values))
        except ForeignKeyViolation:
            if ending.result_of is None:
                raise
            raise HolderGone(f"run {ending.result_of} was removed") from None

    async def release(self, owner: str) -> int:
        return (await self._db.rows(sql.RELEASE, owner))[0]["n"]

    async def adopt(self, dead: str, owner: str, run_id: str | None = None) -> int:
        return (await self._db.rows(sql.ADOPT, owner, dead, run_id))[0]["n"]

    async def owners(self) -> list[str]:
        return [row["owner"] for row in await self._db.rows(sql.OWNERS)]

    async def request_cancel(self, run_id: str) -> None:
        await self._db.rows(sql.REQUEST_CANCEL, run_id)

    async def cancel_requests(self, owner: str) -> list[str]:
        return [row["id"] for row in await self._db.rows(sql.CANCEL_REQUESTS, owner)]

    async def get(self, run_id: str) -> RunRecord | None:
        return _first(await self._db.rows(f"{sql.RECORD_WITH_RESULT} WHERE id = %s", run_id))

    async def list(self, wanted: RunFilter) -> list[RunRecord]:
        where, values = conditions(wanted, mark="%s", user=_USER, contains="search ILIKE %s")
        query = f"{sql.RECORD} {where} ORDER BY id DESC LIMIT %s"
        return [_record(row) for row in await self._db.rows(query, *values, wanted.limit)]

    async def counts(self) -> dict[str, int]:
        rows = await self._db.rows(sql.COUNTS)
        return {row["status"]: row["n"] for row in rows}

    async def cached(self, cache_key: str) -> RunRecord | None:
        newest = "WHERE cache_key = %s AND status = 'succeeded' ORDER BY id DESC LIMIT 1"
        return _first(await self._db.rows(f"{sql.RECORD_WITH_RESULT} {newest}", cache_key))

    async def capsule(self, run_id: str) -> dict[str, Any] | None:
        rows = await self._db.rows(sql.CAPSULE, run_id)
        return json.loads(rows[0]["envelope"]) if rows else None


def _first(rows: list[dict[str, Any]]) -> RunRecord | None:
    return _record(rows[0]) if rows else None


def _record(row: dict[str, Any]) -> RunRecord:
    return record_of(row, user=_USER, pinned=row["pinned"])
