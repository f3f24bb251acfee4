"""Both databases, empty and open; tests that take `make_database` run once for each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.conversations.database import Database
from sandtable.conversations.postgres import PostgresDatabase
from sandtable.conversations.sqlite import SqliteDatabase
from sandtable.conversations.store import ThreadStore
from sandtable.store.postgres.pool import Postgres
from tests.own_logs import LogLines, logged

MakeDatabase = Callable[[], Database]


@pytest.fixture
def log_lines() -> Iterator[LogLines]:
    """What was logged so far."""
    with logged() as lines:
        yield lines


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
