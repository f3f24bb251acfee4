"""Checkpoints over both databases; a test that takes `open_saver` runs once for each."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.assemble.checkpoints import sqlite_checkpoints
from sandtable.assemble.postgres_checkpoints import postgres_checkpoints
from sandtable.store.postgres.pool import Postgres

OpenSaver = Callable[[], AbstractAsyncContextManager[Checkpoints]]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def open_saver(request: pytest.FixtureRequest, tmp_path: Path) -> OpenSaver:
    """Over the same tables each time, as several servers, or one after a restart."""
    if request.param == "sqlite":
        return lambda: sqlite_checkpoints(tmp_path / "threads.db")
    url: str = request.getfixturevalue("postgres_url")

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Checkpoints, None]:
        postgres = Postgres(url)
        await postgres.open(opened)
        try:
            yield await postgres_checkpoints(postgres)
        finally:
            await postgres.aclose(opened)

    return opened


@pytest_asyncio.fixture
async def saver(open_saver: OpenSaver) -> AsyncGenerator[Checkpoints, None]:
    async with open_saver() as opened:
        yield opened
