"""LangGraph's checkpointer over our own tables, the same for SQLite and Postgres.

Invariants: a checkpoint and every item that its lists need are written in one transaction, and a checkpoint does not
change once it has a child. What a turn writes depends on what it adds (see `lists`). A thread that an earlier version
wrote into LangGraph's own tables is migrated as a whole on first access.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Protocol, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
    writes_sort_key,
)

from sandtable.agent.checkpoints import schema as sql
from sandtable.agent.checkpoints.lists import Difference, Held, Item, Lists, difference, hold, read, written
from sandtable.agent.checkpoints.packing import packed, state_serializer, unpacked
from sandtable.recent import Recent

Statement = tuple[str, tuple[Any, ...]]
Place = tuple[str, str, str]
"""Thread, namespace and checkpoint."""

_KEPT = 64
_LARGEST_KEPT = 1 << 20
_RUN_ID = re.compile(rb"run_[0-9a-f]{32}")


class Database(Protocol):
    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]: ...

    async def change(self, *statements: Statement) -> list[int]:
        """All or none; how many rows each changed."""
        ...


class EarlierThreads(Protocol):
    """Threads that an earlier version wrote."""

    async def left(self, most: int) -> list[str]:
        """Some that are not migrated yet."""
        ...

    async def bring_over(self, thread_id: str, saver: Checkpoints, *, again: bool = False) -> None:
        """Migrates the thread; with `again`, even if it was looked up before."""
        ...


@dataclass(frozen=True, slots=True)
class StoredThread:
    thread_id: str
    updated_at: str
    bytes: int


class Checkpoints(BaseCheckpointSaver[int]):
    def __init__(self, database: Database, earlier: EarlierThreads | None = None) -> None:
        super().__init__(serde=state_serializer())
        self.database = database
        self._earlier = earlier
        self._recent: Recent[Place, dict[str, Held]] = Recent(_KEPT)
        """The lists of states that were just written or read: the next step begins with them."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        thread_id, ns = _thread(config)
        await self._bring_over(thread_id)
        if checkpoint_id := get_checkpoint_id(config):
            rows = await self.database.rows(sql.ONE, thread_id, ns, checkpoint_id)
        else:
            rows = await self.database.rows(sql.NEWEST, thread_id, ns, thread_id, ns)
        return self._tuple(rows, await self._known((thread_id, ns, rows[0]["id"]))) if rows else None

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Newest first."""
        if config is not None:
            await self._bring_over(_thread(config)[0])
        where, values = _conditions(config, before)
        found: dict[Place, list[dict[str, Any]]] = {}
        for row in await self.database.rows(sql.MANY.format(where), *values):
            if _fits(row, filter or {}):
                found.setdefault((row["thread_id"], row["ns"], row["id"]), []).append(row)
        loaded: dict[tuple[str, str], Lists] = {}
        for place in list(found)[:limit]:
            thread_id, ns, checkpoint_id = place
            if (thread_id, ns) not in loaded:
                loaded[thread_id, ns] = await self._lists(thread_id, ns)
            yield self._tuple(found[place], loaded[thread_id, ns].of(checkpoint_id))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, ns = _thread(config)
        await self._bring_over(thread_id)
        parent_id = get_checkpoint_id(config)
        parent = await self._known((thread_id, ns, parent_id)) if parent_id else {}
        place = (thread_id, ns, checkpoint["id"])
        about = get_serializable_checkpoint_metadata(config, metadata)
        values = cast(dict[str, Any], checkpoint)
        held, size, lines = self.writing(place, parent_id, parent, values, about)
        user = str(about.get("user") or "")
        await self.database.change((sql.GROW, (thread_id, user, _now(), size)), *lines)
        self._remember(place, held)
        return _config(place)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        place = (*_thread(config), str(get_checkpoint_id(config)))
        size, lines = self.writing_writes(place, writes, task_id, task_path)
        await self.database.change((sql.GROW, (place[0], "", _now(), size)), *lines)

    async def adelete_thread(self, thread_id: str) -> None:
        await self._bring_over(thread_id)
        await self.database.change((sql.DELETE, (thread_id,)))

    async def bytes_of(self, user: str) -> int:
        """The bytes that the user's threads take."""
        return (await self.database.rows(sql.BYTES_OF, user))[0]["n"]

    async def threads(self) -> list[StoredThread]:
        return [StoredThread(**row) for row in await self.database.rows(sql.THREADS)]

    async def named_runs(self) -> dict[str, list[str]]:
        """The runs that each thread names."""
        named: dict[str, list[str]] = {}
        for row in await self.database.rows(sql.NAMED_RUNS):
            named.setdefault(row["thread_id"], []).append(row["run_id"])
        return named

    async def runs_named_by(self, thread_ids: Sequence[str]) -> list[tuple[str, str]]:
        """The runs that these threads name, each with its thread."""
        if not thread_ids:
            return []
        marks = ", ".join("?" for _ in thread_ids)
        rows = await self.database.rows(f"{sql.NAMED_RUNS} WHERE thread_id IN ({marks})", *thread_ids)
        return [(row["thread_id"], row["run_id"]) for row in rows]

    async def delete_unused(self, thread_id: str, since: str) -> bool:
        """Deletes a thread unless it was written to after `since`."""
        return await self.database.change((sql.DELETE_UNUSED, (thread_id, since))) == [1]

    async def bring_over_some(self, most: int) -> int:
        """Migrates so many of the threads that an earlier version wrote, and returns how many it migrated."""
        left = await self._earlier.left(most) if self._earlier is not None else []
        for thread_id in left:
            assert self._earlier is not None
            await self._earlier.bring_over(thread_id, self, again=True)
        return len(left)

    def get_next_version(self, current: int | None, channel: None) -> int:
        return 1 if current is None else current + 1

    # Writing

    def writing(
        self,
        place: Place,
        parent_id: str | None,
        parent: Mapping[str, Held],
        checkpoint: dict[str, Any],
        metadata: Mapping[str, Any],
    ) -> tuple[dict[str, Held], int, list[Statement]]:
        """A checkpoint's lists, its size, and the statements that write it as a child of a parent with these lists."""
        thread_id, values = place[0], checkpoint["channel_values"]
        held: dict[str, Held] = {}
        differences: dict[str, Difference] = {}
        size, lines = 0, list[Statement]()
        for name in [name for name, value in values.items() if type(value) is list and value]:
            theirs = parent.get(name, ())
            held[name], new = hold(values[name], theirs, self.serde.dumps_typed)
            differences[name] = difference(theirs, held[name])
            for digest, typed in new.items():
                kind, data = packed(*typed)
                size += len(data)
                lines += [(sql.PUT_ITEM, (thread_id, digest, kind, data)), *_named_runs(thread_id, typed[1])]
        rest = {name: value for name, value in values.items() if name not in held}
        typed = self.serde.dumps_typed({**checkpoint, "channel_values": rest})
        kind, body = packed(*typed)
        stored = (body, self.serde.dumps_typed(written(differences))[1], json.dumps(metadata))
        lines += [(sql.PUT, (*place, parent_id, kind, *stored)), *_named_runs(thread_id, typed[1])]
        return held, size + sum(map(len, stored)), lines

    def writing_writes(
        self, place: Place, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> tuple[int, list[Statement]]:
        """The size of a task's pending writes, and the statements that write them."""
        write = sql.WRITE_OVER if all(channel in WRITES_IDX_MAP for channel, _ in writes) else sql.WRITE_ONCE
        size, lines = 0, list[Statement]()
        for at, (channel, value) in enumerate(writes):
            typed = self.serde.dumps_typed(value)
            kind, data = packed(*typed)
            size += len(data)
            number = WRITES_IDX_MAP.get(channel, at)
            lines.append((write, (*place, task_id, number, task_path, channel, kind, data)))
            lines += _named_runs(place[0], typed[1])
        return size, lines

    # Reading

    def _tuple(self, rows: list[dict[str, Any]], lists: Mapping[str, Held]) -> CheckpointTuple:
        row, thread, parent_id = rows[0], (rows[0]["thread_id"], rows[0]["ns"]), rows[0]["parent_id"]
        checkpoint = self._decoded(row["kind"], row["body"])
        checkpoint["channel_values"] |= {name: [item.value for item in held] for name, held in lists.items()}
        writes = [one for one in rows if one["task_id"] is not None]
        writes.sort(key=lambda one: writes_sort_key(one["task_path"], one["task_id"], one["number"]))
        return CheckpointTuple(
            _config((*thread, row["id"])),
            checkpoint,
            json.loads(row["metadata"]),
            _config((*thread, parent_id)) if parent_id else None,
            [(w["task_id"], w["channel"], self._decoded(w["write_kind"], w["value"])) for w in writes],
        )

    def _decoded(self, kind: str, value: bytes) -> Any:
        return self.serde.loads_typed(unpacked(kind, value))

    async def _known(self, place: Place) -> dict[str, Held]:
        """The lists of a state; none for one that is not there."""
        thread_id, ns, checkpoint_id = place
        held = self._recent.get(place)
        if held is None:
            lists = await self._lists(thread_id, ns)
            held = lists.of(checkpoint_id)
            if checkpoint_id in lists.states:
                self._remember(place, held)
        return held

    def _remember(self, place: Place, held: dict[str, Held]) -> None:
        if sum(item.size for items in held.values() for item in items) <= _LARGEST_KEPT:
            self._recent.put(place, held)

    async def _lists(self, thread_id: str, ns: str) -> Lists:
        states = await self.database.rows(sql.LISTS, thread_id, ns)
        items = {row["digest"]: row for row in await self.database.rows(sql.ITEMS, thread_id)}

        @cache
        def item(digest: bytes) -> Item:
            row = items[digest]
            kind, data = unpacked(row["kind"], row["value"])
            return Item(self.serde.loads_typed((kind, data)), digest, len(data))

        differences = {row["id"]: read(self.serde.loads_typed(("msgpack", row["lists"]))) for row in states}
        return Lists({row["id"]: (row["parent_id"], differences[row["id"]]) for row in states}, item)

    async def _bring_over(self, thread_id: str) -> None:
        if self._earlier is not None:
            await self._earlier.bring_over(thread_id, self)


def _conditions(config: RunnableConfig | None, before: RunnableConfig | None) -> tuple[str, list[str]]:
    given = (config or {}).get("configurable") or {}
    named = {
        "c.thread_id = ?": given.get("thread_id"),
        "c.ns = ?": given.get("checkpoint_ns"),
        "c.id = ?": given.get("checkpoint_id"),
        "c.id < ?": get_checkpoint_id(before) if before is not None else None,
    }
    chosen = {condition: str(value) for condition, value in named.items() if value is not None}
    return " AND ".join(chosen) or "1 = 1", list(chosen.values())


def _fits(row: dict[str, Any], wanted: Mapping[str, Any]) -> bool:
    if not wanted:
        return True
    metadata = json.loads(row["metadata"])
    return all(metadata.get(name) == value for name, value in wanted.items())


def _thread(config: RunnableConfig) -> tuple[str, str]:
    given = config.get("configurable") or {}
    return str(given["thread_id"]), str(given.get("checkpoint_ns") or "")


def _config(place: Place) -> RunnableConfig:
    thread_id, ns, checkpoint_id = place
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


def _named_runs(thread_id: str, data: bytes) -> list[Statement]:
    """A thread needs every run that is named in one of its values."""
    return [(sql.NAME_RUN, (thread_id, found.decode())) for found in sorted(set(_RUN_ID.findall(data)))]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
