"""LangGraph's checkpoints in one SQLite file: its own saver, on one worker thread, one hop for each operation."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite import SqliteSaver

from sandtable.assemble.serializer import StateSerializer
from sandtable.capsule.sqlite_file import BUSY_TIMEOUT_S
from sandtable.capsule.sqlite_wal import use_wal
from sandtable.private import private_database

T = TypeVar("T")


class SqliteCheckpoints(BaseCheckpointSaver[str]):
    def __init__(self, saver: SqliteSaver, thread: ThreadPoolExecutor) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver
        self._thread = thread

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._do(lambda: self._saver.get_tuple(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        listed = partial(self._saver.list, config, filter=filter, before=before, limit=limit)
        for found in await self._do(lambda: list(listed())):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._do(lambda: self._saver.put(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._do(lambda: self._saver.put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._do(lambda: self._saver.delete_thread(thread_id))

    def get_next_version(self, current: str | None, channel: None) -> str:
        return self._saver.get_next_version(current, channel)


@asynccontextmanager
async def sqlite_checkpoints(path: Path) -> AsyncGenerator[SqliteCheckpoints, None]:
    """In one file, shared by every process of the same home."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="sandtable-checkpoints")
    loop = asyncio.get_running_loop()
    try:
        connection = await loop.run_in_executor(thread, _connect, path)
        try:
            yield SqliteCheckpoints(SqliteSaver(connection, serde=StateSerializer()), thread)
        finally:
            await loop.run_in_executor(thread, connection.close)
    finally:
        thread.shutdown()


def _connect(path: Path) -> sqlite3.Connection:
    private_database(path)
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
    use_wal(connection, BUSY_TIMEOUT_S)
    # The message is on disk before its run begins; runs themselves are kept in their own store.
    connection.execute("PRAGMA synchronous = FULL")
    return connection
