"""Checkpoints of conversations in one SQLite file, shared by all processes of the same home folder."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from sandtable.agent.checkpoints.earlier import SQLITE, Earlier
from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.agent.checkpoints.schema import MIGRATIONS
from sandtable.store.sqlite.file import SqliteFile

_EARLIER = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'checkpoints'"


@asynccontextmanager
async def sqlite_checkpoints(path: Path) -> AsyncGenerator[Checkpoints, None]:
    """Raises StoreUnavailable, StoreCorrupt."""
    # Synced: the message is on disk before its run begins.
    file = SqliteFile(path, MIGRATIONS, synchronous="FULL")
    await file.open()
    try:
        earlier = Earlier(file, SQLITE) if await file.rows(_EARLIER) else None
        yield Checkpoints(file, earlier)
    finally:
        await file.aclose()
