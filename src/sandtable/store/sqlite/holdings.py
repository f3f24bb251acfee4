"""What the SQLite store holds, and how runs are removed: see `store.holdings`."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from sandtable.capsule.canonical import digest
from sandtable.store.holdings import Holding, Removal, staying
from sandtable.store.sqlite.file import SqliteFile

LOCK = "retention.lock"

_RUNS = """
    SELECT id, coalesce(finished_at, created_at) AS at, status NOT IN ('pending', 'running') AS ended, bytes,
        result_of, session
    FROM runs
"""
# `?1` is a JSON array of run ids.
_ROWS = """
    SELECT id, status, result_of, session FROM runs WHERE id IN (SELECT value FROM json_each(?1))
"""
_NEEDED = """
    SELECT DISTINCT result_of FROM runs
    WHERE result_of IN (SELECT value FROM json_each(?1)) AND id NOT IN (SELECT value FROM json_each(?1))
"""
_SESSIONS = """
    SELECT DISTINCT session FROM runs
    WHERE id NOT IN (SELECT value FROM json_each(?1)) AND session IN (
        SELECT session FROM runs WHERE id IN (SELECT value FROM json_each(?1)) AND session IS NOT NULL)
"""
_ENVELOPES = "SELECT run_id, envelope FROM capsules WHERE run_id IN (SELECT value FROM json_each(?1))"
_RECORD = """
    INSERT INTO removals (run_id, removed_at, rule, user, dataset_id, capsule)
    SELECT id, ?, ?, user, dataset_id, ? FROM runs WHERE id = ?
"""
_DELETE = (
    "DELETE FROM results WHERE run_id IN (SELECT value FROM json_each(?1))",
    "DELETE FROM capsules WHERE run_id IN (SELECT value FROM json_each(?1))",
    "DELETE FROM runs WHERE id IN (SELECT value FROM json_each(?1))",
)


class SqliteHoldings:
    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    async def runs(self) -> list[Holding]:
        return [Holding(**{**row, "ended": bool(row["ended"])}) for row in await self._file.rows(_RUNS)]

    async def remove(self, run_ids: Sequence[str], at: str, rule: str) -> list[str]:
        return await self._file.do(lambda: self._remove(run_ids, at, rule))

    async def removal(self, run_id: str) -> Removal | None:
        found = await self._file.rows("SELECT * FROM removals WHERE run_id = ?", run_id)
        return Removal(**found[0]) if found else None

    async def bytes_of(self, user: str) -> int:
        found = await self._file.rows("SELECT coalesce(sum(bytes), 0) AS n FROM runs WHERE user = ?", user)
        return found[0]["n"]

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[bool, None]:
        descriptor = _locked(self._file.path.with_name(LOCK))
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _remove(self, run_ids: Sequence[str], at: str, rule: str) -> list[str]:
        """Runs on the worker thread."""
        chosen = json.dumps(list(run_ids))
        # Envelopes do not change, so digest them before the transaction makes others wait.
        capsules = {
            run_id: digest(json.loads(text)) for run_id, text in self._file.db.execute(_ENVELOPES, (chosen,))
        }
        with self._file.transaction() as db:
            rows = {
                row["id"]: (row["status"] not in ("pending", "running"), row["result_of"], row["session"])
                for row in db.execute(_ROWS, (chosen,))
            }
            needed = [row[0] for row in db.execute(_NEEDED, (chosen,))]
            sessions = [row[0] for row in db.execute(_SESSIONS, (chosen,))]
            gone = sorted(rows.keys() - staying(rows, needed, sessions))
            db.executemany(_RECORD, [(at, rule, capsules[run_id], run_id) for run_id in gone])
            for delete in _DELETE:
                db.execute(delete, (json.dumps(gone),))
        return gone


def _locked(path: Path) -> int | None:
    """A descriptor that holds the lock; None if another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
