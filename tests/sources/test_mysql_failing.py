"""What goes wrong while a MariaDB is copied: an error for people, and nothing half done."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandtable.errors import ErrorCode, InvalidInput, RunnerBroken, SandtableError
from sandtable.sources.troubles import SourceRefused, SourceTimeout
from tests.sources.conftest import SECRET, Opens, Shop, caught_workers
from tests.sources.mariadb import MariaDatabase, shop_server

pytestmark = pytest.mark.needs("mariadb", "userns")

LONG = "CREATE TABLE `long` AS SELECT seq, REPEAT('x', 1000) AS x FROM seq_1_to_40000"


@pytest.fixture(scope="module")
def database() -> Iterator[MariaDatabase]:
    with shop_server() as made:
        yield made


async def test_a_view_that_fails_in_its_middle_leaves_nothing(database: MariaDatabase, shop: Shop) -> None:
    body = "SELECT IF(seq = 500, (SELECT 1 UNION SELECT 2), seq) AS y FROM seq_1_to_1000"
    url = database.schema("bad", f"CREATE VIEW good AS SELECT 1 AS x;\nCREATE VIEW bad AS {body}")
    await shop.connect(url)
    with pytest.raises(SourceRefused) as caught:
        await shop.snapshot("good", "bad")
    assert caught.value.details["sqlstate"] == "1242"
    assert "copying bad.bad" in caught.value.message
    assert "(error 1242)" in caught.value.message
    assert shop.is_untouched()


async def test_a_view_whose_definer_may_not_read_says_so(database: MariaDatabase, shop: Shop) -> None:
    url = database.schema("dark", "CREATE DEFINER = nobody@localhost VIEW v AS SELECT * FROM shop.orders")
    await shop.connect(url)
    with pytest.raises(SourceRefused, match="may not read this") as caught:
        await shop.snapshot("v")
    assert "definer" in caught.value.suggestion
    assert shop.is_untouched()


async def test_a_statement_that_takes_too_long_is_ended(database: MariaDatabase, opens: Opens) -> None:
    url = database.schema("slow", "CREATE VIEW slow AS SELECT SLEEP(30) AS x FROM seq_1_to_10")
    shop = await opens(snapshot_timeout_s=1.5)
    await shop.connect(url)
    with pytest.raises(SourceTimeout) as caught:
        await shop.snapshot("slow")
    assert caught.value.code == ErrorCode.RUNNER_TIMEOUT
    assert shop.is_untouched()


async def test_a_text_with_a_nul_is_named(database: MariaDatabase, shop: Shop) -> None:
    url = database.schema("nul", "CREATE TABLE t AS SELECT 'fine' AS a, 'no\\0ne' AS `b``c`")
    await shop.connect(url)
    with pytest.raises(SourceRefused, match="NUL") as caught:
        await shop.snapshot("t")
    assert "column `b'c`" in caught.value.message
    assert shop.is_untouched()


async def _in_mid_copy(database: MariaDatabase, shop: Shop, act: Callable[[], object]) -> SandtableError:
    """Does something when the first bytes have arrived; returns how the snapshot ended."""
    if not database.execute("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'lasting'"):
        database.schema("lasting", LONG)
    await shop.connect(database.url("lasting", schema="lasting"))
    acted = False

    def progress(done: int, _: int) -> None:
        nonlocal acted
        if not acted:
            acted = True
            act()

    with pytest.raises(SandtableError) as caught:
        async with shop.sources.copied("shop", ["long"], progress):
            pass
    assert acted
    assert shop.is_untouched()
    return caught.value


def _threads(database: MariaDatabase, user: str) -> list[int]:
    found = database.execute(f"SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '{user}'")
    return [row[0] for row in found]


async def test_a_connection_that_is_ended_in_mid_copy(database: MariaDatabase, shop: Shop) -> None:
    def end() -> None:
        (thread,) = _threads(database, "lasting")
        database.execute(f"KILL {thread}")

    ended = await _in_mid_copy(database, shop, end)
    assert isinstance(ended, SourceRefused)


async def test_a_server_that_dies_in_mid_copy(shop: Shop) -> None:
    with shop_server() as database:
        ended = await _in_mid_copy(database, shop, database.server.stop)
        assert isinstance(ended, SourceRefused)
        with pytest.raises(SourceRefused, match="cannot be reached"):
            await shop.snapshot("long")
        database.server.start()
        assert (await shop.snapshot("long")).outcome == "added"


async def test_a_worker_that_is_killed_in_mid_copy(
    database: MariaDatabase, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = caught_workers(monkeypatch)
    ended = await _in_mid_copy(database, shop, lambda: os.kill(workers[-1].pid, signal.SIGKILL))
    assert isinstance(ended, RunnerBroken)
    assert "ended unexpectedly while copying lasting.long" in ended.message
    assert (await shop.snapshot("long")).outcome == "added"


async def test_a_snapshot_that_is_cancelled_leaves_no_worker_and_no_file(
    database: MariaDatabase, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shop.connect(
        database.schema("halt", "CREATE VIEW halt AS SELECT SLEEP(0.001) AS x FROM seq_1_to_100000")
    )
    workers = caught_workers(monkeypatch)
    begun = asyncio.create_task(shop.snapshot("halt"))
    active = "SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = 'halt' AND INFO LIKE 'SELECT `x`%'"
    async with asyncio.timeout(30):
        while not database.execute(active):
            assert not begun.done(), begun.exception()
            await asyncio.sleep(0.05)
    begun.cancel()
    with pytest.raises(asyncio.CancelledError):
        await begun
    assert not Path(f"/proc/{workers[-1].pid}").exists()
    assert shop.is_untouched()
    assert [t.get_name() for t in asyncio.all_tasks() if "_pass" in repr(t)] == []


async def test_a_table_larger_than_the_quota_is_refused(database: MariaDatabase, opens: Opens) -> None:
    url = database.schema("broad", "CREATE TABLE broad AS SELECT REPEAT('y', 1000) AS y FROM seq_1_to_5000")
    shop = await opens(max_upload_mb=1)
    await shop.connect(url)
    with pytest.raises(InvalidInput, match="larger than 1 MiB"):
        await shop.snapshot("broad")
    assert shop.is_untouched()


async def test_a_value_larger_than_the_workers_memory_is_refused(opens: Opens) -> None:
    with shop_server(("skip-ssl", "max-allowed-packet=1G")) as database:
        url = database.schema("huge", "CREATE VIEW huge AS SELECT REPEAT('z', 400000000) AS z")
        shop = await opens()
        await shop.connect(url)
        with pytest.raises(SandtableError) as caught:
            await shop.snapshot("huge")
    assert caught.value.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED
    assert "ran out of memory" in caught.value.message
    assert shop.is_untouched()


async def test_a_server_with_too_many_connections_says_so(shop: Shop) -> None:
    with shop_server(("skip-ssl", "max-connections=10")) as database, contextlib.ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(database.server.connect("reader", SECRET))
        with pytest.raises(SourceRefused, match="Too many connections"):
            await shop.connect(database.url("reader"))


async def test_a_table_that_goes_away_between_is_named(database: MariaDatabase, shop: Shop) -> None:
    await shop.connect(
        database.schema("gone", "CREATE TABLE a (x INT);\nINSERT INTO a VALUES (1);\nCREATE TABLE b (x INT)")
    )
    dropped = False

    def progress(done: int, _: int) -> None:
        nonlocal dropped
        if not dropped:
            dropped = True
            database.execute("DROP TABLE gone.b")

    with pytest.raises(SourceRefused, match=r"gone\.b"):
        async with shop.sources.copied("shop", ["a", "b"], progress):
            pass
    assert shop.is_untouched()
