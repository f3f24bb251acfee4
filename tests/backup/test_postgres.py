"""Runs and conversations of a Postgres database are backed up in one snapshot, and loaded into an empty one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from pydantic import SecretStr

from sandtable.assemble.memory import migrate
from sandtable.backup.postgres import SCHEMAS
from sandtable.backup.restoring import opened
from sandtable.backup.work import back_up, restore
from sandtable.capsule.keys import open_signing_key
from sandtable.errors import InvalidInput
from sandtable.settings import Settings
from sandtable.store.postgres.pool import Postgres
from sandtable.store.postgres.run_store import PostgresStore
from tests.earlier import earlier_database
from tests.store.conformance import AT, ending, record

pytestmark = pytest.mark.needs("postgres")


@pytest.fixture
def settings(tmp_path: Path, postgres_url: str) -> Settings:
    home = tmp_path / "home"
    home.mkdir()
    open_signing_key(home)
    return Settings(home=home, database_url=SecretStr(postgres_url))


@pytest.fixture
def elsewhere(cluster: str, tmp_path: Path) -> Settings:
    name = f"restored_{tmp_path.name}".lower().replace("-", "_")[:60]
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(name)))
    url = f"{cluster}&options=-csearch_path%3D{name}"
    return Settings(home=tmp_path / "new", database_url=SecretStr(url))


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[PostgresStore]:
    await migrate(settings)
    opened_store = PostgresStore(Postgres(url_of(settings)))
    await opened_store.open()
    yield opened_store
    await opened_store.aclose()


def url_of(settings: Settings) -> str:
    assert settings.database_url is not None
    return settings.database_url.get_secret_value()


async def finish(store: PostgresStore, number: int, **changes: Any) -> None:
    await store.accept(record(number), 1000)
    assert await store.claim("me", AT)
    assert await store.finish(ending(number, **changes))


async def take(settings: Settings, target: Path) -> None:
    await back_up(settings, target, with_keys=False, progress=lambda done, total: None)


async def put(settings: Settings, source: Path) -> None:
    with opened(source) as backup:
        await restore(settings, backup, settings.home, lambda done, total: None)


def rows(settings: Settings) -> dict[str, list[Any]]:
    with psycopg.connect(url_of(settings)) as connection:
        tables = connection.execute(
            r"SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'sandtable\_%'"
            " AND relnamespace = current_schema()::regnamespace"
        ).fetchall()
        return {
            name: connection.execute(
                SQL("SELECT * FROM {} ORDER BY 1, 2").format(Identifier(name))
            ).fetchall()
            if not name.endswith("_schema")
            else connection.execute(SQL("SELECT * FROM {} ORDER BY 1").format(Identifier(name))).fetchall()
            for (name,) in tables
        }


async def test_all_rows_come_back(
    store: PostgresStore, settings: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    for number in range(1, 5):
        await finish(store, number)
    await finish(store, 5, result=None, result_of="run_0004")
    assert await store.holdings.remove(["run_0001", "run_0002"], AT, "age") == ["run_0001", "run_0002"]
    with psycopg.connect(url_of(settings), autocommit=True) as connection:
        connection.execute(
            "INSERT INTO sandtable_checkpoint_threads VALUES ('t', 'ann', '2024', 3), ('ü\n\\t\t', '', '2025', 4)"
        )
        connection.execute(
            "INSERT INTO sandtable_checkpoint_items VALUES ('t', %s, 'k', %s)", (bytes(range(256)), b"\0\\x")
        )
    await take(settings, tmp_path / "copy.tar")
    before = rows(settings)
    await put(elsewhere, tmp_path / "copy.tar")
    assert rows(elsewhere) == before
    assert set(SCHEMAS) <= before.keys() and len(before["sandtable_runs"]) == 3
    # The triggers of the new tables are on.
    with (
        psycopg.connect(url_of(elsewhere)) as connection,
        pytest.raises(psycopg.errors.IntegrityConstraintViolation),
    ):
        connection.execute("INSERT INTO sandtable_removals VALUES ('run_x', '', '', '', '', '')")
    # And a server opens them.
    await migrate(elsewhere)
    again = PostgresStore(Postgres(url_of(elsewhere)))
    await again.open()
    assert await again.capsule("run_0005") == {"payload": "capsule of 5"}
    await again.aclose()


async def test_rows_are_of_one_moment(
    store: PostgresStore, settings: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    async def write() -> None:
        number = 0
        while True:
            number += 1
            await finish(store, number)

    writing = asyncio.create_task(write())
    await asyncio.sleep(0.2)
    await take(settings, tmp_path / "copy")
    assert not writing.done()
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    await put(elsewhere, tmp_path / "copy")
    found = rows(elsewhere)
    ended = [row[0] for row in found["sandtable_runs"] if "succeeded" in row]
    assert ended and ended == [row[0] for row in found["sandtable_capsules"]]


async def test_a_database_in_use_is_refused(
    store: PostgresStore, settings: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    await take(settings, tmp_path / "copy")
    with pytest.raises(InvalidInput, match="has tables of Sandtable already"):
        await put(settings.model_copy(update={"home": elsewhere.home}), tmp_path / "copy")
    assert not elsewhere.home.exists()
    with pytest.raises(InvalidInput, match="as rows of a Postgres database"):
        await put(elsewhere.model_copy(update={"database_url": None}), tmp_path / "copy")
    (settings.home / "new").mkdir()
    await take(settings.model_copy(update={"database_url": None}), tmp_path / "files")
    with pytest.raises(InvalidInput, match="has its runs in SQLite files"):
        await put(elsewhere, tmp_path / "files")


async def test_conversations_of_an_earlier_version_are_brought_over_first(
    settings: Settings, tmp_path: Path
) -> None:
    earlier_database(url_of(settings))
    with pytest.raises(InvalidInput, match="of an earlier version"):
        await take(settings, tmp_path / "copy")
    assert not list(tmp_path.glob("*copy*"))
