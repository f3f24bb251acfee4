"""The thread store: everything that is kept about conversations, over either database.

Invariants (`tests/server/threads/test_store.py`): a turn is begun and ended once, by the server that
accepted it; a thread is `busy` exactly while a turn of it is under way; the log of a turn is dropped only
after its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sandtable.errors import NotFound
from sandtable.server.threads import statements as sql
from sandtable.server.threads.database import Database, Statement
from sandtable.server.threads.model import (
    Happening,
    Thread,
    ThreadBusy,
    ThreadFilter,
    Turn,
    TurnEnd,
    now,
)

LOST = {
    "error": "ServerStopped",
    "message": "the server stopped while it was working on this; ask again to go on",
}
_SORT = {"thread_id": "id", "status": "status", "created_at": "created_at", "updated_at": "updated_at"}


class ThreadStore:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def open(self) -> None:
        await self._db.open()
        try:
            await self._recover()
        except BaseException:
            await self._db.aclose()
            raise

    async def aclose(self) -> None:
        await self._db.aclose()

    async def create(self, thread: Thread) -> bool:
        """False when there is one with this id already."""
        values = (
            thread.id,
            thread.user,
            thread.created_at,
            thread.updated_at,
            thread.status,
            thread.dataset_id,
            json.dumps(thread.metadata),
            thread.opening,
        )
        tags = _retag(thread.id, thread.metadata)
        made, *_ = await self._db.change((sql.CREATE_THREAD, values), *tags)
        return made == 1

    async def get(self, thread_id: str) -> Thread | None:
        rows = await self._db.rows(sql.THREAD, thread_id)
        return _thread(rows[0]) if rows else None

    async def search(self, wanted: ThreadFilter) -> list[Thread]:
        where, values = _conditions(wanted)
        order = f"{_SORT[wanted.sort_by]} {'DESC' if wanted.descending else 'ASC'}, id"
        query = f"{sql.THREADS}{where} ORDER BY {order} LIMIT ? OFFSET ?"
        return [_thread(row) for row in await self._db.rows(query, *values, wanted.limit, wanted.offset)]

    async def count(self, wanted: ThreadFilter) -> int:
        where, values = _conditions(wanted)
        return (await self._db.rows(f"{sql.COUNT_THREADS}{where}", *values))[0]["n"]

    async def update(self, thread_id: str, metadata: dict[str, Any]) -> Thread | None:
        """Entries are added to what is there; a null takes one away. A new name is no news: lists keep their order."""
        thread = await self.get(thread_id)
        if thread is None:
            return None
        merged = {k: v for k, v in {**thread.metadata, **metadata}.items() if v is not None}
        await self._db.change((sql.SET_METADATA, (json.dumps(merged), thread_id)), *_retag(thread_id, merged))
        return await self.get(thread_id)

    async def delete(self, thread_id: str) -> bool:
        return await self._db.change((sql.DELETE_THREAD, (thread_id,))) == [1]

    async def accept(self, turn: Turn, opening: str | None = None) -> None:
        """Writes the turn down. Raises NotFound, and ThreadBusy when another server works on the thread."""
        us = self._db.owner
        # The lock: of two servers the second one sees the first one's turn.
        lock = (sql.LOCK_THREAD, (turn.thread_id,))
        insert = (
            sql.ACCEPT,
            (turn.id, us, turn.dataset_id, turn.created_at, turn.updated_at, turn.strategy,
             json.dumps(turn.metadata), turn.thread_id, turn.thread_id, us),
        )  # fmt: skip
        busy = (sql.SET_BUSY, (turn.created_at, turn.dataset_id, opening, turn.thread_id, turn.id))
        found, accepted, _ = await self._db.change(lock, insert, busy)
        if not found:
            raise no_thread(turn.thread_id)
        if not accepted:
            # Unless that server is dead.
            await self._recover()
            _, accepted, _ = await self._db.change(lock, insert, busy)
        if not accepted:
            raise ThreadBusy(
                "another server is answering in this conversation",
                suggestion="Try again when it has answered.",
                thread_id=turn.thread_id,
            )

    async def begin(self, turn: Turn) -> None:
        await self._db.change((sql.BEGIN, (now(), turn.id, self._db.owner)))

    async def end(self, turn: Turn, end: TurnEnd) -> None:
        await self._db.change(*_ended(turn.id, turn.thread_id, self._db.owner, end))

    async def turn(self, thread_id: str, turn_id: str) -> Turn | None:
        rows = await self._db.rows(sql.TURN, thread_id, turn_id)
        return _turn(rows[0]) if rows else None

    async def turns(
        self,
        thread_id: str,
        *,
        status: str | None = None,
        limit: int = 10,
        offset: int = 0,
        oldest_first: bool = False,
    ) -> list[Turn]:
        """Newest first, unless told otherwise."""
        chosen, values = (" AND status = ?", (status,)) if status else ("", ())
        order = "created_at, id" if oldest_first else "created_at DESC, id DESC"
        query = f"{sql.TURNS}{chosen} ORDER BY {order} LIMIT ? OFFSET ?"
        return [_turn(row) for row in await self._db.rows(query, thread_id, *values, limit, offset)]

    async def turn_count(self, thread_id: str) -> int:
        return (await self._db.rows(sql.COUNT_TURNS, thread_id))[0]["n"]

    async def log(self, turn_id: str, happenings: Sequence[Happening]) -> None:
        size = sum(len(one.data) for one in happenings)
        lines = ((sql.LOG, (one.number, one.name, one.data, turn_id)) for one in happenings)
        await self._db.change((sql.LOG_GROWS, (size, turn_id)), *lines)

    async def logged(self, turn_id: str, after: int, limit: int = 200) -> list[Happening]:
        return [Happening(**row) for row in await self._db.rows(sql.LOGGED, turn_id, after, limit)]

    async def drop_logs(self, before: str, most_bytes: int) -> None:
        """Of ended turns: those that ended before, and the oldest ones beyond so many bytes."""
        total, dropped = 0, list[Statement]()
        for row in await self._db.rows(sql.LOGS):
            total += row["log_bytes"]
            if total > most_bytes or row["updated_at"] < before:
                dropped += [(sql.DROP_LOG, (row["id"],)), (sql.LOG_IS_GONE, (row["id"],))]
        if dropped:
            await self._db.change(*dropped)

    async def _recover(self) -> None:
        """What dead servers left under way is over: nobody works on it any more."""
        for owner in [row["owner"] for row in await self._db.rows(sql.OWNERS)]:
            async with self._db.inherit(owner) as dead:
                for row in await self._db.rows(sql.LEFT_BY, owner) if dead else ():
                    end = TurnEnd("error", "error", LOST)
                    await self._db.change(*_ended(row["id"], row["thread_id"], owner, end))


def no_thread(thread_id: str) -> NotFound:
    return NotFound(
        f"no thread `{thread_id[:80]}`",
        suggestion="Start a new conversation, or look at the list of threads.",
        thread_id=thread_id,
    )


def _ended(turn_id: str, thread_id: str, owner: str, end: TurnEnd) -> tuple[Statement, Statement]:
    at, error = now(), json.dumps(end.error) if end.error else None
    free = (error, at, thread_id, turn_id, end.thread_status, thread_id, turn_id, owner)
    return (sql.SET_FREE, free), (sql.END, (end.status, error, at, turn_id, owner))


def _retag(thread_id: str, metadata: dict[str, Any]) -> Iterable[Statement]:
    written = json.dumps(metadata)
    yield sql.CLEAR_TAGS, (thread_id, thread_id, written)
    for name, value in metadata.items():
        yield sql.TAG, (name, _tag(value), thread_id, written)


def _conditions(wanted: ThreadFilter) -> tuple[str, list[Any]]:
    parts: list[str] = []
    values: list[Any] = []
    for name, value in wanted.metadata.items():
        parts.append(sql.TAGGED)
        values += [name, _tag(value)]
    if wanted.ids is not None:
        parts.append(f"id IN ({', '.join('?' * len(wanted.ids))})" if wanted.ids else "1 = 0")
        values += wanted.ids
    if wanted.status is not None:
        parts.append("status = ?")
        values.append(wanted.status)
    return f" WHERE {' AND '.join(parts)}" if parts else "", values


def _tag(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _thread(row: dict[str, Any]) -> Thread:
    return Thread(
        id=row["id"],
        user=row["user_name"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        status=row["status"],
        dataset_id=row["dataset_id"],
        metadata=json.loads(row["metadata"]),
        opening=row["opening"],
        error=json.loads(row["error"]) if row["error"] else None,
    )


def _turn(row: dict[str, Any]) -> Turn:
    return Turn(
        id=row["id"],
        thread_id=row["thread_id"],
        dataset_id=row["dataset_id"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        status=row["status"],
        strategy=row["strategy"],
        metadata=json.loads(row["metadata"]),
        error=json.loads(row["error"]) if row["error"] else None,
    )
