"""Both databases, empty and open; tests that take `database_for` run once for each."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio

from sandtable.server.threads.database import Database
from sandtable.server.threads.postgres import PostgresDatabase
from sandtable.server.threads.sqlite import SqliteDatabase
from sandtable.server.threads.store import ThreadStore
from tests import postgres

_NUMBERS = itertools.count()
MakeDatabase = Callable[[], Database]


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    with postgres.cluster() as url:
        yield url


@pytest.fixture
def postgres_url(cluster: str) -> str:
    """Tables of the test's own: a schema costs a millisecond, a database a copy of seven megabytes."""
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{cluster}&options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def make_database(request: pytest.FixtureRequest, tmp_path: Path) -> MakeDatabase:
    """Connections to the same data, as several servers would have them."""
    if request.param == "sqlite":
        return lambda: SqliteDatabase(tmp_path)
    url: str = request.getfixturevalue("postgres_url")
    return lambda: PostgresDatabase(url)


@pytest_asyncio.fixture
async def store(make_database: MakeDatabase) -> AsyncIterator[ThreadStore]:
    store = ThreadStore(make_database())
    await store.open()
    yield store
    await store.aclose()
