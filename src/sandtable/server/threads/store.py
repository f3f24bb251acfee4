"""The thread store: everything that is kept about conversations, over either database.

Invariants (`tests/server/threads/test_store.py`): a turn is begun and ended once, by the server that
accepted it; a thread is `busy` exactly while a turn of it is under way; the log of a turn is dropped only
after its end.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import structlog

from sandtable.errors import NotFound
from sandtable.quoting import quote
from sandtable.server.threads import statements as sql
from sandtable.server.threads.database import Database, Statement
from sandtable.server.threads.model import (
    Happening,
    Left,
    Thread,
    ThreadBusy,
    ThreadFilter,
    Turn,
    TurnEnd,
    now,
)
from sandtable.server.threads.news import News, cancel_of, news_of
from sandtable.stopping import stopped
from sandtable.store.run_store import StoreCorrupt, StoreUnavailable

LOST = {
    "error": "ServerStopped",
    "message": "the server stopped while it was working on this; ask again to go on",
}
SWEEP_S = 5.0
MOST_BEGUN = 3
"""Whoever takes its server with it each time is not begun for ever."""
ORDER = "order"
_RECOVER_S = 1.0
_SORT = {"thread_id": "id", "status": "status", "created_at": "created_at", "updated_at": "updated_at"}


log = structlog.get_logger("sandtable.server")

Heir = Callable[[Left], Awaitable[bool]]


class ThreadStore:
    def __init__(self, database: Database) -> None:
        self._db = database
        self._owners: dict[str, str] = {}
        """Under which name this server accepted the turns that it has not ended."""
        self._heir: Heir | None = None
        self._recovered = 0.0
        self._sweeping: asyncio.Task[None] | None = None
        self._due = asyncio.Event()
        self.news = News()
        database.listen(self._hear)

    @property
    def tells(self) -> bool:
        """Whether `news` wakes those who watch; else they have to look."""
        return self._db.tells

    def on_inherit(self, heir: Heir) -> None:
        """`heir` takes up what dead servers left, where servers share the store; False when it does not."""
        self._heir = heir if self.tells else None

    async def open(self) -> None:
        await self._db.open()
        try:
            if not self.tells:
                await self._recover()
        except BaseException:
            await self._db.aclose()
            raise
        self._sweeping = asyncio.create_task(self._sweep(), name="thread sweep")

    async def aclose(self) -> None:
        sweeping, self._sweeping = self._sweeping, None
        if sweeping is not None:
            await stopped(sweeping)
        await self._db.aclose()

    async def probe(self) -> None:
        """Reads and writes the database. Raises StoreUnavailable, StoreCorrupt."""
        await self._db.probe()

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

    async def delete_unused(self, thread_id: str, since: str) -> bool:
        """Deletes a thread unless something happened in it after `since`, or is under way."""
        return await self._db.change((sql.DELETE_UNUSED, (thread_id, since, thread_id))) == [1]

    async def count_of(self, user: str) -> int:
        return (await self._db.rows(sql.COUNT_OF_USER, user))[0]["n"]

    async def last_used(self) -> dict[str, tuple[str, bool]]:
        """When something last happened in each thread, and whether something is under way in it."""
        rows = await self._db.rows(sql.LAST_USED)
        return {row["id"]: (row["updated_at"], row["status"] == "busy") for row in rows}

    async def under_way_since(self) -> str | None:
        """When the oldest turn that is under way was accepted."""
        return (await self._db.rows(sql.UNDER_WAY_SINCE))[0]["at"]

    async def accept(self, turn: Turn, opening: str | None = None, order: str | None = None) -> None:
        """Writes the turn down. Raises NotFound, and ThreadBusy when another server works on the thread.

        With its `order`, another server can take it up when this one dies.
        """
        us = self._db.owner
        # The lock: of two servers the second one sees the first one's turn.
        lock = (sql.LOCK_THREAD, (turn.thread_id,))
        insert = (
            sql.ACCEPT,
            (turn.id, us, turn.dataset_id, turn.created_at, turn.updated_at, turn.strategy,
             json.dumps(turn.metadata), turn.thread_id, turn.thread_id, us),
        )  # fmt: skip
        busy = (sql.SET_BUSY, (turn.created_at, turn.dataset_id, opening, turn.thread_id, turn.id))
        kept = ((sql.LOG, (0, ORDER, order, turn.id)),) if order is not None and self.tells else ()
        tell = (news_of(turn.thread_id),)
        found, accepted, *_ = await self._db.change(lock, insert, busy, *kept, tell=tell)
        if not found:
            raise no_thread(turn.thread_id)
        if not accepted:
            # Unless that server is dead.
            await self._recover()
            _, accepted, *_ = await self._db.change(lock, insert, busy, *kept, tell=tell)
        if not accepted:
            raise ThreadBusy(
                "another server is answering in this conversation",
                suggestion="Try again when it has answered.",
                thread_id=turn.thread_id,
            )
        self._owners[turn.id] = us

    async def begin(self, turn: Turn) -> None:
        await self._db.change((sql.BEGIN, (now(), turn.id, self._owner_of(turn))))

    async def end(self, turn: Turn, end: TurnEnd) -> None:
        await self._end(turn.id, turn.thread_id, self._owner_of(turn), end)
        self._owners.pop(turn.id, None)

    async def ask_to_cancel(self, turn: Turn) -> None:
        """Whichever server works on the turn hears of it, where the database tells."""
        await self._db.change(tell=(cancel_of(turn.id),))

    def _owner_of(self, turn: Turn) -> str:
        return self._owners.get(turn.id, self._db.owner)

    async def _end(self, turn_id: str, thread_id: str, owner: str, end: TurnEnd) -> None:
        tell = (news_of(turn_id), news_of(thread_id))
        await self._db.change(*_ended(turn_id, thread_id, owner, end), tell=tell)

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
        await self._db.change((sql.LOG_GROWS, (size, turn_id)), *lines, tell=(news_of(turn_id),))

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

    async def recover(self) -> None:
        """What dead servers left under way is over, if nobody looked a moment ago."""
        if time.monotonic() - self._recovered > _RECOVER_S:
            await self._recover()

    def _hear(self, said: str | None) -> None:
        self.news.hear(said)
        if said is None:
            self._due.set()

    async def _sweep(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SWEEP_S):
                    await self._due.wait()
            self._due.clear()
            try:
                await self._keep_ours()
                await self.recover()
            except (StoreUnavailable, StoreCorrupt) as error:
                log.error("thread_sweep_failed", reason=error.message)

    async def _keep_ours(self) -> None:
        """Whoever goes by another name since takes its turns along; those that another server has are ended here."""
        us = self._db.owner
        for turn_id, name in list(self._owners.items()):
            if name != us and await self._db.change((sql.INHERIT, (us, turn_id, name))) == [1]:
                self._owners[turn_id] = us
            elif name != us:
                self.news.hear(cancel_of(turn_id))

    async def _recover(self) -> None:
        """Nobody works on it any more."""
        self._recovered = time.monotonic()
        # What this server works on it ends itself, also when it goes by another name since.
        ours = set(self._owners.values())
        for owner in {row["owner"] for row in await self._db.rows(sql.OWNERS)} - ours:
            async with self._db.inherit(owner) as dead:
                for row in await self._db.rows(sql.LEFT_BY, owner) if dead else ():
                    if row["id"] not in self._owners:
                        await self._inherit(_turn(row), owner)

    async def _inherit(self, turn: Turn, owner: str) -> None:
        orders = await self._db.rows(sql.LEFT_ORDER, turn.id) if self._heir else ()
        if orders and self._heir is not None:
            found = (await self._db.rows(sql.LEFT_LOG, turn.id))[0]
            left, us = Left(turn, orders[0]["data"], found["last"], found["begun"]), self._db.owner
            if left.begun < MOST_BEGUN and await self._db.change((sql.INHERIT, (us, turn.id, owner))) == [1]:
                self._owners[turn.id] = owner = us
                if await self._heir(left):
                    log.warning("turn_taken_up", turn_id=turn.id, begun=left.begun)
                    return
        await self._end(turn.id, turn.thread_id, owner, TurnEnd("error", "error", LOST))
        self._owners.pop(turn.id, None)


def no_thread(thread_id: str) -> NotFound:
    return NotFound(
        f"no thread {quote(thread_id)}",
        suggestion="Start a new conversation, or look at the list of threads.",
        thread_id=thread_id,
    )


def _ended(turn_id: str, thread_id: str, owner: str, end: TurnEnd) -> tuple[Statement, Statement]:
    at, error = now(), json.dumps(end.error) if end.error else None
    free = (error, at, end.title, thread_id, turn_id, end.thread_status, thread_id, turn_id, owner)
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
        title=row["title"],
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
