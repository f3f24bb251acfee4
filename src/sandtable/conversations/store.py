"""The thread store: threads, turns and the journals of turns, over either database.

Invariants (`tests/conversations/test_store.py`): a turn is begun and ended once, by the server that
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

from sandtable.conversations import statements as sql
from sandtable.conversations.database import Database
from sandtable.conversations.model import (
    JournalEntry,
    OrphanedTurn,
    OwnThreads,
    Thread,
    ThreadBusy,
    ThreadFilter,
    TurnEnd,
    TurnRecord,
    now,
)
from sandtable.conversations.news import News, cancel_of, news_of
from sandtable.conversations.turn_events import SERVER_STOPPED
from sandtable.errors import NotFound
from sandtable.quoting import quote
from sandtable.stopping import stopped
from sandtable.store.run_store import StoreCorrupt, StoreUnavailable
from sandtable.store.tables import Statement

SWEEP_S = 5.0
MOST_BEGUN = 3
"""Stop restarting a turn that crashed its server this often."""
ORDER = "order"
_RECOVER_S = 1.0
_SORT = {"thread_id": "id", "status": "status", "created_at": "created_at", "updated_at": "updated_at"}

log = structlog.get_logger("sandtable.conversations")

TakeUp = Callable[[OrphanedTurn], Awaitable[bool]]


class ThreadStore:
    def __init__(self, database: Database) -> None:
        self._db = database
        self._owners: dict[str, str] = {}
        """Of each turn that this server accepted and has not ended: the server's id at that time."""
        self._take_up: TakeUp | None = None
        self._recovered = 0.0
        self._sweeping: asyncio.Task[None] | None = None
        self._due = asyncio.Event()
        self.news = News()
        database.listen(self._on_notification)

    @property
    def notifies(self) -> bool:
        """Whether `news` wakes watchers; otherwise they have to poll."""
        return self._db.notifies

    def on_orphan(self, take_up: TakeUp) -> None:
        """Where servers share the store, `take_up` gets the turns of dead servers; it returns False to refuse one."""
        self._take_up = take_up if self.notifies else None

    async def open(self) -> None:
        await self._db.open()
        try:
            if not self.notifies:
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
        """False when a thread with this id exists."""
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
        """Adds the entries; a null removes one. `updated_at` stays, so that lists keep their order."""
        thread = await self.get(thread_id)
        if thread is None:
            return None
        merged = {k: v for k, v in {**thread.metadata, **metadata}.items() if v is not None}
        await self._db.change((sql.SET_METADATA, (json.dumps(merged), thread_id)), *_retag(thread_id, merged))
        return await self.get(thread_id)

    async def delete(self, thread_id: str) -> bool:
        return await self._db.change((sql.DELETE_THREAD, (thread_id,))) == [1]

    async def delete_unused(self, thread_id: str, since: str) -> bool:
        """Deletes a thread unless it changed after `since`, or a turn of it is under way."""
        return await self._db.change((sql.DELETE_UNUSED, (thread_id, since, thread_id))) == [1]

    async def count_of(self, user: str) -> int:
        return (await self._db.rows(sql.COUNT_OF_USER, user))[0]["n"]

    async def last_used(self) -> dict[str, tuple[str, bool]]:
        """When each thread last changed, and whether a turn of it is under way."""
        rows = await self._db.rows(sql.LAST_USED)
        return {row["id"]: (row["updated_at"], row["status"] == "busy") for row in rows}

    async def under_way_since(self) -> str | None:
        """When the oldest turn under way was accepted."""
        return (await self._db.rows(sql.UNDER_WAY_SINCE))[0]["at"]

    async def accept(self, turn: TurnRecord, opening: str | None = None, order: str | None = None) -> None:
        """Stores the turn. Raises NotFound, and ThreadBusy when another server works on the thread.

        With its `order`, another server can take it up when this one dies.
        """
        us = self._db.owner
        # The row lock: of two servers the second sees the turn of the first.
        lock = (sql.LOCK_THREAD, (turn.thread_id,))
        insert = (
            sql.ACCEPT,
            (turn.id, us, turn.dataset_id, turn.created_at, turn.updated_at, turn.strategy,
             json.dumps(turn.metadata), turn.thread_id, turn.thread_id, us),
        )  # fmt: skip
        busy = (sql.SET_BUSY, (turn.created_at, turn.dataset_id, opening, turn.thread_id, turn.id))
        kept = ((sql.LOG, (0, ORDER, order, turn.id)),) if order is not None and self.notifies else ()
        notify = (news_of(turn.thread_id),)
        found, accepted, *_ = await self._db.change(lock, insert, busy, *kept, notify=notify)
        if not found:
            raise no_thread(turn.thread_id)
        if not accepted:
            # That server may be dead.
            await self._recover()
            _, accepted, *_ = await self._db.change(lock, insert, busy, *kept, notify=notify)
        if not accepted:
            raise ThreadBusy(
                "another server is answering in this conversation",
                suggestion="Try again when it has answered.",
                thread_id=turn.thread_id,
            )
        self._owners[turn.id] = us

    async def begin(self, turn: TurnRecord) -> None:
        await self._db.change((sql.BEGIN, (now(), turn.id, self._owner_of(turn))))

    async def end(self, turn: TurnRecord, end: TurnEnd) -> None:
        await self._end(turn.id, turn.thread_id, self._owner_of(turn), end)
        self._owners.pop(turn.id, None)

    async def ask_to_cancel(self, turn: TurnRecord) -> None:
        """Notifies the server that works on the turn."""
        await self._db.change(notify=(cancel_of(turn.id),))

    def _owner_of(self, turn: TurnRecord) -> str:
        return self._owners.get(turn.id, self._db.owner)

    async def _end(self, turn_id: str, thread_id: str, owner: str, end: TurnEnd) -> None:
        notify = (news_of(turn_id), news_of(thread_id))
        await self._db.change(*_ended(turn_id, thread_id, owner, end), notify=notify)

    async def turn(self, thread_id: str, turn_id: str) -> TurnRecord | None:
        rows = await self._db.rows(sql.TURN, thread_id, turn_id)
        return _turn(rows[0]) if rows else None

    async def turn_named(self, turn_id: str) -> TurnRecord | None:
        rows = await self._db.rows(sql.TURN_NAMED, turn_id)
        return _turn(rows[0]) if rows else None

    async def marked(self, mark: dict[str, str], seen: OwnThreads | None, limit: int) -> list[TurnRecord]:
        """The turns in these threads, or in all, whose metadata have the one entry of `mark`; the last changed
        first."""
        where, values = ("", []) if seen is None else _in_threads(seen, "threads.")
        query = f"{sql.MARKED}{where and f' AND {where}'}{sql.MARKED_ORDER}"
        return [_turn(row) for row in await self._db.rows(query, _entry(mark), *values, limit)]

    async def marked_in(self, mark: dict[str, str], thread_id: str, limit: int) -> list[TurnRecord]:
        """The same of one thread; the oldest first."""
        rows = await self._db.rows(sql.MARKED_IN_THREAD, thread_id, _entry(mark), limit)
        return [_turn(row) for row in rows]

    async def mark_ended(self, turn: TurnRecord, metadata: dict[str, Any]) -> bool:
        """Adds the entries to the metadata of a turn that has ended; False for one that has not."""
        values = (json.dumps({**turn.metadata, **metadata}), now(), turn.id)
        changed = await self._db.change(
            (sql.MARK_ENDED, values), notify=(news_of(turn.id), news_of(turn.thread_id))
        )
        return changed == [1]

    async def turns(
        self,
        thread_id: str,
        *,
        status: str | None = None,
        limit: int = 10,
        offset: int = 0,
        oldest_first: bool = False,
    ) -> list[TurnRecord]:
        """Newest first by default."""
        chosen, values = (" AND status = ?", (status,)) if status else ("", ())
        order = "created_at, id" if oldest_first else "created_at DESC, id DESC"
        query = f"{sql.TURNS}{chosen} ORDER BY {order} LIMIT ? OFFSET ?"
        return [_turn(row) for row in await self._db.rows(query, thread_id, *values, limit, offset)]

    async def turn_count(self, thread_id: str) -> int:
        return (await self._db.rows(sql.COUNT_TURNS, thread_id))[0]["n"]

    async def log(self, turn_id: str, entries: Sequence[JournalEntry]) -> None:
        size = sum(len(one.data) for one in entries)
        lines = ((sql.LOG, (one.number, one.kind, one.data, turn_id)) for one in entries)
        await self._db.change((sql.LOG_GROWS, (size, turn_id)), *lines, notify=(news_of(turn_id),))

    async def logged(self, turn_id: str, after: int, limit: int = 200) -> list[JournalEntry]:
        return [JournalEntry(**row) for row in await self._db.rows(sql.LOGGED, turn_id, after, limit)]

    async def drop_logs(self, before: str, most_bytes: int) -> None:
        """Drops the journals of turns that ended before `before`, and the oldest ones beyond so many bytes."""
        total, dropped = 0, list[Statement]()
        for row in await self._db.rows(sql.LOGS):
            total += row["log_bytes"]
            if total > most_bytes or row["updated_at"] < before:
                dropped += [(sql.DROP_LOG, (row["id"],)), (sql.LOG_IS_GONE, (row["id"],))]
        if dropped:
            await self._db.change(*dropped)

    async def recover(self) -> None:
        """Takes up or ends the turns of dead servers. Does nothing within a second of the last time."""
        if time.monotonic() - self._recovered > _RECOVER_S:
            await self._recover()

    def _on_notification(self, payload: str | None) -> None:
        self.news.receive(payload)
        if payload is None:
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
        """After this server's id changed, moves its turns to the new id; cancels those that another server took up."""
        us = self._db.owner
        for turn_id, name in list(self._owners.items()):
            if name != us and await self._db.change((sql.INHERIT, (us, turn_id, name))) == [1]:
                self._owners[turn_id] = us
            elif name != us:
                self.news.receive(cancel_of(turn_id))

    async def _recover(self) -> None:
        self._recovered = time.monotonic()
        # This server ends its own turns, including those that it accepted under an earlier id.
        ours = set(self._owners.values())
        for owner in {row["owner"] for row in await self._db.rows(sql.OWNERS)} - ours:
            async with self._db.inherit(owner) as dead:
                for row in await self._db.rows(sql.LEFT_BY, owner) if dead else ():
                    if row["id"] not in self._owners:
                        await self._inherit(_turn(row), owner)

    async def _inherit(self, turn: TurnRecord, owner: str) -> None:
        orders = await self._db.rows(sql.LEFT_ORDER, turn.id) if self._take_up else ()
        if orders and self._take_up is not None:
            found = (await self._db.rows(sql.LEFT_LOG, turn.id))[0]
            left, us = OrphanedTurn(turn, orders[0]["data"], found["last"], found["begun"]), self._db.owner
            if left.begun < MOST_BEGUN and await self._db.change((sql.INHERIT, (us, turn.id, owner))) == [1]:
                self._owners[turn.id] = owner = us
                if await self._take_up(left):
                    log.warning("turn_taken_up", turn_id=turn.id, begun=left.begun)
                    return
        await self._end(turn.id, turn.thread_id, owner, TurnEnd("error", "error", SERVER_STOPPED.stored))
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
    if wanted.seen is not None:
        part, given = _in_threads(wanted.seen)
        parts.append(part)
        values += given
    return f" WHERE {' AND '.join(parts)}" if parts else "", values


def _in_threads(seen: OwnThreads, table: str = "") -> tuple[str, list[str]]:
    marks = ", ".join("(?, ?)" for _ in seen.shared)
    shared = f" OR ({table}id, {table}user_name) IN (VALUES {marks})" if marks else ""
    return f"({table}user_name = ?{shared})", [seen.user, *(text for pair in seen.shared for text in pair)]


def _entry(mark: dict[str, str]) -> str:
    """A LIKE pattern for one entry of metadata. Quotes inside a JSON text are escaped, so no text can hold it."""
    return f"%{json.dumps(mark)[1:-1]}%"


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


def _turn(row: dict[str, Any]) -> TurnRecord:
    return TurnRecord(
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
