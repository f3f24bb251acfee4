from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from sandtable.capsule.canonical import digest
from sandtable.store.run_store import StoreCorrupt, StoreFull, StoreUnavailable
from sandtable.store.sqlite.migrations import MIGRATIONS
from sandtable.store.sqlite.run_store import SqliteStore
from tests.store.conformance import AT, Make, StoreConformance, ending, record


class TestSqlite(StoreConformance):
    @pytest.fixture
    def make(self, tmp_path: Path) -> Make:
        return lambda: SqliteStore(tmp_path / "home" / "sandtable.db")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sandtable.db"


async def with_one_ended(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.accept(record(1), 10)
    await store.claim("me", AT)
    await store.finish(ending(1))
    await store.accept(record(7), 10)
    await store.claim("me", AT)
    await store.finish(ending(7))
    assert await store.holdings.remove(["run_0007"], AT, "age") == ["run_0007"]
    await store.accept(record(2), 10)
    await store.aclose()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE capsules SET envelope = '{}'",
        "DELETE FROM capsules",
        "INSERT OR REPLACE INTO capsules VALUES ('run_0001', '', '{}')",
        "UPDATE runs SET status = 'failed' WHERE id = 'run_0001'",
        "UPDATE runs SET body = '{}' WHERE id = 'run_0001'",
        "UPDATE runs SET status = 'succeeded' WHERE id = 'run_0002'",
        "DELETE FROM runs WHERE id = 'run_0002'",
        "INSERT OR REPLACE INTO runs SELECT * FROM runs WHERE id = 'run_0001'",
        "UPDATE results SET result = '[]'",
        "INSERT OR REPLACE INTO results VALUES ('run_0001', '[]')",
        "DELETE FROM results",
        "INSERT INTO removals VALUES ('run_0002', '', '', '', '', '')",
        "INSERT INTO removals VALUES ('run_9', '', '', '', '', '')",
        "UPDATE removals SET rule = 'other'",
        "DELETE FROM removals",
        "INSERT OR REPLACE INTO removals VALUES ('run_0007', '', '', '', '', '')",
        "INSERT INTO runs (id, owner, user, dataset_id, created_at, body)"
        " VALUES ('run_0007', '', '', '', '', '')",
    ],
)
async def test_the_database_itself_refuses_to_rewrite_history(path: Path, sql: str) -> None:
    await with_one_ended(path)
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(sql)
    connection.close()


async def test_accepted_runs_are_synced_to_disk(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    await store.accept(record(1), 10)
    await store.claim("me", AT)
    rows = await store._rows("PRAGMA synchronous")
    mode = await store._rows("PRAGMA journal_mode")
    await store.aclose()
    assert (rows[0][0], mode[0][0]) == (2, "wal")


def damage(path: Path, content: bytes | str | None) -> None:
    if isinstance(content, bytes):
        path.write_bytes(content)
        return
    whole = path.read_bytes()
    path.write_bytes(whole[:6000] if content else whole[:100] + b"\xff" * (len(whole) - 100))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"this is not a database at all, it is text" * 50, id="text"),
        pytest.param(b"SQLite format 3\x00" + bytes(4096), id="header only"),
        pytest.param(None, id="overwritten in the middle"),
        pytest.param("truncated", id="truncated"),
    ],
)
async def test_a_damaged_database_says_what_to_do(path: Path, content: bytes | str | None) -> None:
    if not isinstance(content, bytes):
        await with_one_ended(path)
    damage(path, content)
    store = SqliteStore(path)
    with pytest.raises(StoreCorrupt) as caught:
        try:
            await store.open()
            await store.get("run_0001")
            await store.accept(record(3), 10)
        finally:
            await store.aclose()
    assert str(path) in caught.value.message
    assert "aside" in caught.value.suggestion


async def test_a_full_disk_is_said_and_nothing_is_lost(path: Path) -> None:
    await with_one_ended(path)
    store = SqliteStore(path)
    await store.open()
    await store._rows("PRAGMA max_page_count = 1")
    large = "x" * 500_000
    with pytest.raises(StoreFull) as caught:
        await store.accept(record(3, body={"large": large}), 10)
    assert "Free space" in caught.value.suggestion
    claimed = await store.claim("me", AT)
    assert claimed is not None
    with pytest.raises(StoreFull):
        await store.finish(ending(2, result={"rows": [[large]]}))
    assert await store.capsule("run_0002") is None
    await store._rows("PRAGMA max_page_count = 100000")
    assert await store.finish(ending(2, result={"rows": [[large]]}))
    assert await store.get("run_0003") is None
    await store.aclose()


async def test_a_database_of_a_newer_version_is_left_alone(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable, match="version 99"):
        await store.open()


async def test_a_folder_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "sandtable.db"):
        store = SqliteStore(path)
        with pytest.raises(StoreUnavailable, match="cannot be used"):
            await store.open()


async def test_a_closed_store_says_so(path: Path) -> None:
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.get("run_0001")
    await store.open()
    await store.aclose()
    await store.aclose()


async def test_cancelling_the_caller_leaves_no_transaction_open(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    tasks = [asyncio.create_task(store.accept(record(n), 100)) for n in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await store.accept(record(50), 100)
    found = {made.id for made in [await store.claim("me", AT) for _ in range(30)] if made}
    assert found >= {f"run_{n:04}" for n in range(1, 20, 2)} | {"run_0050"}
    await store.aclose()


def test_processes_that_start_together_make_one_schema(path: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path; from sandtable.store.sqlite.run_store import SqliteStore\n"
        "async def main():\n"
        "    store = SqliteStore(Path(sys.argv[1])); await store.open()\n"
        "    print(await store.counts()); await store.aclose()\n"
        "asyncio.run(main())\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate(timeout=60)[0].strip() for process in started] == ["{}"] * 4


async def test_runs_of_an_earlier_version_are_measured_and_may_leave(path: Path) -> None:
    """As the version before made it, with a run that ended, one that was answered from it, and one that waits."""
    connection = sqlite3.connect(path)
    for statement in (*MIGRATIONS[0], *MIGRATIONS[1], "PRAGMA user_version = 2"):
        connection.execute(statement)
    for number in (1, 2, 3):
        connection.execute(
            "INSERT INTO runs (id, owner, user, dataset_id, created_at, body) VALUES (?, 'me', 'ann', 'shop', ?, '{}')",
            (f"run_{number:04}", AT),
        )
    connection.execute("INSERT INTO capsules SELECT id, created_at, '[0]' FROM runs WHERE id < 'run_0003'")
    connection.execute("INSERT INTO results VALUES ('run_0001', '[[1]]')")
    connection.execute("UPDATE runs SET status = 'succeeded' WHERE id = 'run_0001'")
    connection.execute("UPDATE runs SET status = 'succeeded', result_of = 'run_0001' WHERE id = 'run_0002'")
    connection.commit()
    connection.close()
    store = SqliteStore(path)
    await store.open()
    assert {one.id: one.bytes for one in await store.holdings.runs()} == {
        "run_0001": 10, "run_0002": 5, "run_0003": 0
    }  # fmt: skip
    assert await store.holdings.remove(["run_0001"], AT, "age") == []
    with pytest.raises(sqlite3.IntegrityError):
        await store._rows("UPDATE runs SET bytes = 0 WHERE id = 'run_0001'")
    chosen = ["run_0001", "run_0002", "run_0003"]
    assert await store.holdings.remove(chosen, AT, "age") == ["run_0001", "run_0002"]
    await store.aclose()


def test_released_migrations_are_not_edited() -> None:
    """A step may be changed until it is released; after that its digest here is its promise."""
    assert [digest(step)[:23] for step in MIGRATIONS] == [
        "sha256:fa7b459e6ddc81d4",
        "sha256:665a53ecd87ad01c",
        "sha256:75ededb09eab4849",
    ]


@pytest.mark.parametrize("replace", [False, True], ids=["deleted", "replaced"])
async def test_nothing_is_accepted_into_a_file_that_is_gone(path: Path, replace: bool) -> None:
    store = SqliteStore(path)
    await store.open()
    path.rename(path.with_name("aside"))
    if replace:
        path.write_bytes(b"")
    with pytest.raises(StoreUnavailable, match="moved, deleted or replaced") as caught:
        await store.accept(record(1), 10)
    assert "restart" in caught.value.suggestion
    path.with_name("aside").replace(path)
    await store.accept(record(1), 10)
    await store.aclose()
