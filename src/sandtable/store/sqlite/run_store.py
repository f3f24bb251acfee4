"""The store in one SQLite file, which all processes of one home share.

A commit that a caller relies on is synced to disk before the call returns.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from sandtable.store.sqlite.file import SqliteFile
from sandtable.store.sqlite.holdings import SqliteHoldings
from sandtable.store.sqlite.migrations import MIGRATIONS

_RECORD = "SELECT *, NULL AS result FROM runs"
_RECORD_WITH_RESULT = """
    SELECT runs.*, results.result FROM runs
    LEFT JOIN results ON results.run_id = coalesce(runs.result_of, runs.id)
"""


class SqliteStore:
    shared = False

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(path, MIGRATIONS, synchronous="FULL")
        self.holdings = SqliteHoldings(self._file)

    async def open(self) -> None:
        await self._file.open()

    async def aclose(self) -> None:
        await self._file.aclose()

    async def probe(self) -> None:
        await self._file.probe()

    def subscribe(self, tell: Callable[[RunNews], None]) -> None:
        """SQLite sends no events between processes."""

    async def accept(self, record: RunRecord, queue_limit: int, user_limit: int | None = None) -> None:
        await self._file.do(lambda: self._accept(record, queue_limit, user_limit))

    async def claim(
        self, owner: str, started_at: str, fair: Fairness = ANY_ORDER, *, anyones: bool = False
    ) -> RunRecord | None:
        return await self._file.do(lambda: self._claim(owner, started_at, fair))

    async def finish(self, ending: Ending) -> bool:
        return await self._file.do(lambda: self._finish(ending))

    async def release(self, owner: str) -> int:
        return await self._change(
            "UPDATE runs SET status = 'pending', started_at = NULL WHERE owner = ? AND status = 'running'",
            owner,
        )

    async def adopt(self, dead: str, owner: str, run_id: str | None = None) -> int:
        return await self._change(
            """
            UPDATE runs SET owner = ?, status = 'pending', started_at = NULL
            WHERE owner = ? AND status IN ('pending', 'running') AND id = coalesce(?, id)
            """,
            owner,
            dead,
            run_id,
        )

    async def owners(self) -> list[str]:
        sql = "SELECT DISTINCT owner FROM runs WHERE status IN ('pending', 'running')"
        return [row["owner"] for row in await self._rows(sql)]

    async def request_cancel(self, run_id: str) -> None:
        await self._change(
            "UPDATE runs SET cancel_requested = 1 WHERE id = ? AND status IN ('pending', 'running')", run_id
        )

    async def cancel_requests(self, owner: str) -> list[str]:
        sql = """
            SELECT id FROM runs
            WHERE owner = ? AND status IN ('pending', 'running') AND cancel_requested ORDER BY id
        """
        return [row["id"] for row in await self._rows(sql, owner)]

    async def get(self, run_id: str) -> RunRecord | None:
        return _first(await self._rows(f"{_RECORD_WITH_RESULT} WHERE id = ?", run_id))

    async def list(self, wanted: RunFilter) -> list[RunRecord]:
        where, values = conditions(wanted, mark="?", user="user", contains=r"search LIKE ? ESCAPE '\'")
        sql = f"{_RECORD} {where} ORDER BY id DESC LIMIT ?"
        return [_record(row) for row in await self._rows(sql, *values, wanted.limit)]

    async def counts(self) -> dict[str, int]:
        rows = await self._rows("SELECT status, count(*) AS n FROM runs GROUP BY status")
        return {row["status"]: row["n"] for row in rows}

    async def cached(self, cache_key: str) -> RunRecord | None:
        sql = f"{_RECORD_WITH_RESULT} WHERE cache_key = ? AND status = 'succeeded' ORDER BY id DESC LIMIT 1"
        return _first(await self._rows(sql, cache_key))

    async def capsule(self, run_id: str) -> dict[str, Any] | None:
        rows = await self._rows("SELECT envelope FROM capsules WHERE run_id = ?", run_id)
        return json.loads(rows[0]["envelope"]) if rows else None

    # What follows runs on the worker thread.

    def _accept(self, record: RunRecord, queue_limit: int, user_limit: int | None) -> None:
        self._file.require_in_place()
        with self._file.transaction() as db:
            waiting = db.execute("SELECT count(*) FROM runs WHERE status = 'pending'").fetchone()[0]
            if waiting >= queue_limit:
                raise queue_full(waiting)
            if user_limit is not None and waiting >= user_limit:
                self._refuse_over_share(record.user, user_limit)
            db.execute(
                "INSERT INTO runs (id, owner, user, dataset_id, created_at, search, body, session)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (record.id, record.owner, record.user, record.dataset_id, record.created_at, record.search,
                 json.dumps(record.body), record.session),
            )  # fmt: skip

    def _refuse_over_share(self, user: str, limit: int) -> None:
        # The plus keeps SQLite from scanning the index of all runs of the user.
        sql = "SELECT count(*) FROM runs WHERE status = 'pending' AND +user = ?"
        waiting = self._file.db.execute(sql, (user,)).fetchone()[0]
        if waiting >= limit:
            raise over_share(user, f"{waiting} runs waiting")

    def _claim(self, owner: str, started_at: str, fair: Fairness) -> RunRecord | None:
        # No caller relies on a claim: if a power cut undoes it, the run is pending again.
        self._file.db.execute("PRAGMA synchronous = NORMAL")
        try:
            with self._file.transaction() as db:
                lately = _SEPARATOR.join(("", *fair.lately, ""))
                given = {"owner": owner, "each": fair.each, "lately": lately}
                chosen = db.execute(_CHOOSE_ANY if fair.cells else _CHOOSE_NO_CELL, given).fetchone()
                if chosen is None:
                    return None
                db.execute(
                    "UPDATE runs SET status = 'running', attempts = attempts + 1, started_at = ?"
                    " WHERE id = ?",
                    (started_at, chosen["id"]),
                )
                return _first(db.execute(f"{_RECORD} WHERE id = ?", (chosen["id"],)).fetchall())
        finally:
            self._file.db.execute("PRAGMA synchronous = FULL")

    def _finish(self, ending: Ending) -> bool:
        with self._file.transaction() as db:
            found = db.execute(
                "SELECT 1 FROM runs WHERE id = ? AND owner = ? AND status = ?",
                (ending.id, ending.owner, ending.expected),
            ).fetchone()
            if found is None:
                return False
            if ending.result_of is not None:
                holder = db.execute("SELECT 1 FROM runs WHERE id = ?", (ending.result_of,)).fetchone()
                if holder is None:
                    raise HolderGone(f"run {ending.result_of} was removed")
            stored = Stored.of(ending)
            db.execute(
                "INSERT INTO capsules (run_id, created_at, envelope) VALUES (?, ?, ?)",
                (ending.id, ending.finished_at, stored.envelope),
            )
            if stored.result is not None:
                db.execute("INSERT INTO results VALUES (?, ?)", (ending.id, stored.result))
            db.execute(
                "UPDATE runs SET status = ?, finished_at = ?, body = ?, cache_key = ?, result_of = ?,"
                " session = ?, bytes = ? WHERE id = ?",
                (ending.status, ending.finished_at, stored.body, ending.cache_key,
                 ending.result_of, ending.session, stored.size, ending.id),
            )  # fmt: skip
            return True

    async def _change(self, sql: str, *values: Any) -> int:
        def act() -> int:
            with self._file.transaction() as db:
                return db.execute(sql, values).rowcount

        return await self._file.do(act)

    async def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        return await self._file.do(lambda: self._file.db.execute(sql, values).fetchall())


_SEPARATOR = "\x1f"
"""Between users in `lately`: a user who is named later comes later."""
# The condition that a run is unfinished is repeated because SQLite uses the partial index only then.
_CHOOSE = """
    SELECT min(id) AS id, (
        SELECT count(*) FROM runs AS busy
        WHERE busy.owner = :owner AND busy.status = 'running' AND busy.status IN ('pending', 'running')
            AND busy.user = waiting.user
    ) AS running
    FROM runs AS waiting
    WHERE owner = :owner AND status = 'pending' AND status IN ('pending', 'running') AND id NOT IN (
        SELECT later.id FROM runs AS cell JOIN runs AS later ON later.session = cell.session
        WHERE cell.owner = :owner AND cell.status = 'running' AND cell.status IN ('pending', 'running')
            AND later.status = 'pending'
    ) {further}
    GROUP BY user HAVING running < :each
    ORDER BY running, instr(:lately, char(31) || user || char(31)), id LIMIT 1
"""
_CHOOSE_ANY, _CHOOSE_NO_CELL = _CHOOSE.format(further=""), _CHOOSE.format(further="AND session IS NULL")


def _first(rows: list[sqlite3.Row]) -> RunRecord | None:
    return _record(rows[0]) if rows else None


def _record(row: sqlite3.Row) -> RunRecord:
    return record_of(row, user="user")
