"""Migrates threads that an earlier version stored in LangGraph's own tables, one by one.

Invariant: a thread is in the old tables or in ours, never in both: it is copied and deleted there in one transaction.
Every state keeps its id, so that clients can continue; pending decisions stay pending.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from langgraph.checkpoint.base import WRITES_IDX_MAP

from sandtable.agent.checkpoints import schema as sql
from sandtable.agent.checkpoints.lists import Held
from sandtable.agent.checkpoints.packing import versions_as_numbers
from sandtable.agent.checkpoints.saver import Checkpoints, Database, Statement
from sandtable.recent import Recent

_KNOWN = 10_000
_THREADS = "SELECT DISTINCT thread_id FROM checkpoints LIMIT ?"
_THREAD = "SELECT thread_id FROM checkpoints WHERE thread_id = ? LIMIT 1"
_STATES = "SELECT * FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_id"

Row = dict[str, Any]
Decode = Callable[[tuple[str, bytes]], Any]


@dataclass(frozen=True, slots=True)
class Tables:
    """How LangGraph lays out its tables in one of the databases."""

    writes: str
    written: str
    """The column with a write's value."""
    delete: tuple[str, ...]
    blobs: str | None = None
    """Where the values of channels are, if not in the checkpoint itself."""

    def checkpoint(self, row: Row, blobs: dict[tuple[Any, ...], Row], decode: Decode) -> dict[str, Any]:
        if self.blobs is None:
            return decode((row["type"], row["checkpoint"]))
        made = dict(row["checkpoint"])
        found = {
            channel: blobs[row["checkpoint_ns"], channel, version]
            for channel, version in made["channel_versions"].items()
            if (row["checkpoint_ns"], channel, version) in blobs
        }
        values = {name: decode((b["type"], b["blob"])) for name, b in found.items() if b["type"] != "empty"}
        return {**made, "channel_values": {**(made.get("channel_values") or {}), **values}}


SQLITE = Tables(
    writes="SELECT * FROM writes WHERE thread_id = ?",
    written="value",
    delete=("DELETE FROM checkpoints WHERE thread_id = ?", "DELETE FROM writes WHERE thread_id = ?"),
)
POSTGRES = Tables(
    writes="SELECT * FROM checkpoint_writes WHERE thread_id = ?",
    written="blob",
    delete=(
        "DELETE FROM checkpoints WHERE thread_id = ?",
        "DELETE FROM checkpoint_writes WHERE thread_id = ?",
        "DELETE FROM checkpoint_blobs WHERE thread_id = ?",
    ),
    blobs="SELECT * FROM checkpoint_blobs WHERE thread_id = ?",
)


class Earlier:
    def __init__(self, database: Database, tables: Tables) -> None:
        self._db = database
        self._tables = tables
        self._done: Recent[str, bool] = Recent(_KNOWN)
        self._lock = asyncio.Lock()

    async def left(self, most: int) -> list[str]:
        """Threads that are still in the old tables."""
        return [row["thread_id"] for row in await self._db.rows(_THREADS, most)]

    async def bring_over(self, thread_id: str, saver: Checkpoints, *, again: bool = False) -> None:
        if self._done.get(thread_id) and not again:
            return
        async with self._lock:
            if (again or not self._done.get(thread_id)) and await self._db.rows(_THREAD, thread_id):
                await self._bring(thread_id, saver)
            self._done.put(thread_id, True)

    async def _bring(self, thread_id: str, saver: Checkpoints) -> None:
        states = await self._db.rows(_STATES, thread_id)
        writes = await self._db.rows(self._tables.writes, thread_id)
        blobs = await self._db.rows(self._tables.blobs, thread_id) if self._tables.blobs else []
        # A long thread takes seconds: other tasks run in between.
        head, lines = await asyncio.to_thread(self._copied, saver, states, blobs, writes)
        gone = [(delete, (thread_id,)) for delete in self._tables.delete]
        await self._db.change((sql.ADOPT, (thread_id, *head)), *lines, *gone)

    def _copied(
        self, saver: Checkpoints, states: list[Row], blobs: list[Row], writes: list[Row]
    ) -> tuple[tuple[str, str, int], list[Statement]]:
        """The thread's user, last change and size, and the statements that write its states."""
        decode: Decode = saver.serde.loads_typed
        named = {(row["checkpoint_ns"], row["channel"], row["version"]): row for row in blobs}
        held: dict[str, dict[str, Held]] = {}
        user, at, total, lines = "", "", 0, list[Statement]()
        for row in states:
            place = (row["thread_id"], row["checkpoint_ns"], row["checkpoint_id"])
            checkpoint = versions_as_numbers(self._tables.checkpoint(row, named, decode))
            metadata = row["metadata"] if isinstance(row["metadata"], dict) else json.loads(row["metadata"])
            parent_id = row["parent_checkpoint_id"]
            parent = held.get(parent_id or "", {})
            held[place[2]], size, made = saver.writing(place, parent_id, parent, checkpoint, metadata)
            total, at, user = total + size, max(at, checkpoint["ts"]), user or str(metadata.get("user") or "")
            lines += made
        for size, made in _copied_writes(saver, writes, self._tables.written):
            total += size
            lines += made
        return (user, at, total), lines


def _copied_writes(
    saver: Checkpoints, rows: Iterable[Row], value: str
) -> Iterator[tuple[int, list[Statement]]]:
    """The writes of each task, separate from its interrupts and resume values."""

    def task(row: Row) -> tuple[Any, ...]:
        special = row["channel"] in WRITES_IDX_MAP
        return row["checkpoint_ns"], row["checkpoint_id"], row["task_id"], row.get("task_path") or "", special

    for key, found in groupby(sorted(rows, key=lambda row: (task(row), row["idx"])), task):
        ns, checkpoint_id, task_id, task_path, _ = key
        writes = list(found)
        place = (writes[0]["thread_id"], ns, checkpoint_id)
        decoded = [(row["channel"], saver.serde.loads_typed((row["type"], row[value]))) for row in writes]
        yield saver.writing_writes(place, decoded, task_id, task_path)
