"""Accounts over both databases, with a clock of the test's own and a cheap password hash."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.passwords import Cost, Passwords
from sandtable.accounts.schema import FILE, MIGRATIONS, VERSIONS
from sandtable.accounts.sessions import Lifetime
from sandtable.store.postgres.pool import Postgres
from sandtable.store.postgres.tables import PostgresTables
from sandtable.store.sqlite.file import SqliteFile
from sandtable.store.tables import Tables
from tests.own_logs import LogLines, logged

CHEAP = Cost(passes=1, memory_kib=64, lanes=1)
LIFETIME = Lifetime(idle_s=1000, whole_s=5000)

MakeTables = Callable[[], Tables]


@dataclass
class Clock:
    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def log_lines() -> Iterator[LogLines]:
    with logged() as lines:
        yield lines


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def make_tables(request: pytest.FixtureRequest, tmp_path: Path) -> MakeTables:
    """Connections to the same tables, as several servers would have them."""
    if request.param == "sqlite":
        return lambda: SqliteFile(tmp_path / FILE, MIGRATIONS, synchronous="FULL")
    url: str = request.getfixturevalue("postgres_url")
    return lambda: PostgresTables(Postgres(url), VERSIONS, MIGRATIONS)


@pytest_asyncio.fixture
async def accounts(make_tables: MakeTables, clock: Clock) -> AsyncIterator[Accounts]:
    opened = Accounts(make_tables(), LIFETIME, Passwords(CHEAP), clock)
    await opened.open()
    yield opened
    await opened.aclose()
