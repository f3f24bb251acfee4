"""Both databases, empty and open; tests that take `database_for` run once for each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.server.threads.database import Database
from sandtable.server.threads.postgres import PostgresDatabase
from sandtable.server.threads.sqlite import SqliteDatabase
from sandtable.server.threads.store import ThreadStore
from sandtable.store.postgres.pool import Postgres

MakeDatabase = Callable[[], Database]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def make_database(request: pytest.FixtureRequest, tmp_path: Path) -> MakeDatabase:
    """Connections to the same data, as several servers would have them."""
    if request.param == "sqlite":
        return lambda: SqliteDatabase(tmp_path)
    url: str = request.getfixturevalue("postgres_url")
    return lambda: PostgresDatabase(Postgres(url))


@pytest_asyncio.fixture
async def store(make_database: MakeDatabase) -> AsyncIterator[ThreadStore]:
    store = ThreadStore(make_database())
    await store.open()
    yield store
    await store.aclose()
