"""Boards in both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.boards.schema import FILE, MIGRATIONS, VERSIONS
from sandtable.boards.store import Boards
from sandtable.store.postgres.pool import Postgres
from sandtable.store.postgres.tables import PostgresTables
from sandtable.store.sqlite.file import SqliteFile
from sandtable.store.tables import Tables


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Tables:
    if request.param == "sqlite":
        return SqliteFile(tmp_path / FILE, MIGRATIONS, synchronous="FULL")
    return PostgresTables(Postgres(request.getfixturevalue("postgres_url")), VERSIONS, MIGRATIONS)


@pytest_asyncio.fixture
async def boards(tables: Tables) -> AsyncIterator[Boards]:
    async with Boards(tables) as made:
        yield made
