"""What goes wrong while a snapshot is made: an error for people, and nothing half done."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import ErrorCode, InvalidInput, RunnerBroken, SandtableError
from sandtable.sources.troubles import SourceRefused, SourceTimeout
from tests import postgres
from tests.sources.conftest import SPEED, Database, Opens, Shop, caught_workers, database_of, started

pytestmark = pytest.mark.needs("postgres", "userns")


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("SELECT 1 / (x - 500) AS y FROM generate_series(1, 1000) x", "22012"),
        ("SELECT pg_read_file('PG_VERSION') AS y", "42501"),
    ],
    ids=["fails-in-its-middle", "needs-a-privilege"],
)
async def test_a_view_that_fails_leaves_nothing(
    database: Database, shop: Shop, body: str, state: str
) -> None:
    name = f"bad_{state}"
    database.execute(f"CREATE SCHEMA {name}; CREATE VIEW {name}.good AS SELECT 1 AS x")
    database.reader(f"{name}_reader", name)
    database.execute(f"CREATE VIEW {name}.bad WITH (security_invoker) AS {body}")
    database.execute(f"GRANT SELECT ON {name}.bad TO {name}_reader")
    await shop.connect(database.url(f"{name}_reader"))
    with pytest.raises(SourceRefused) as caught:
        await shop.snapshot("good", "bad")
    assert caught.value.details["sqlstate"] == state
    assert f"copying {name}.bad" in caught.value.message
    assert shop.is_untouched()


async def test_a_statement_that_takes_too_long_is_ended(database: Database, opens: Opens) -> None:
    database.execute("CREATE SCHEMA slow; CREATE VIEW slow.slow AS SELECT pg_sleep(30)::text AS x")
    database.reader("slow_reader", "slow")
    shop = await opens(snapshot_timeout_s=1.5)
    await shop.connect(database.url("slow_reader"))
    with pytest.raises(SourceTimeout) as caught:
        await shop.snapshot("slow")
    assert caught.value.code == ErrorCode.RUNNER_TIMEOUT
    assert shop.is_untouched()


async def _in_mid_copy(database: Database, shop: Shop, act: Any) -> SandtableError:
    """Does something when the first bytes have arrived; returns how the snapshot ended."""
    if not database.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'long'"):
        database.execute(
            "CREATE SCHEMA long; CREATE TABLE long.long AS"
            " SELECT i, repeat('x', 1000) AS x FROM generate_series(1, 40000) i"
        )
        database.reader("long_reader", "long")
    await shop.connect(database.url("long_reader"))
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


async def test_a_backend_that_ends_in_mid_copy(database: Database, shop: Shop) -> None:
    ended = await _in_mid_copy(
        database,
        shop,
        lambda: database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'long_reader'"
        ),
    )
    assert isinstance(ended, SourceRefused)


async def test_a_server_that_dies_in_mid_copy(shop: Shop) -> None:
    cluster, port = started()
    with cluster as address:
        database = database_of(address, port)
        postmaster = int((database.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        # As `immediate`: its processes abandon everything.
        ended = await _in_mid_copy(database, shop, lambda: os.kill(postmaster, signal.SIGQUIT))
        assert isinstance(ended, SourceRefused)
        with pytest.raises(SourceRefused, match="cannot be reached"):
            await shop.snapshot("long")
        postgres.start(database.folder, (*SPEED, f"port={port}"))


async def test_a_worker_that_is_killed_in_mid_copy(
    database: Database, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = caught_workers(monkeypatch)
    ended = await _in_mid_copy(database, shop, lambda: os.kill(workers[-1].pid, signal.SIGKILL))
    assert isinstance(ended, RunnerBroken)
    assert "ended unexpectedly while copying long.long" in ended.message
    assert (await shop.snapshot("long")).outcome == "added"


async def test_a_snapshot_that_is_cancelled_leaves_no_worker_and_no_file(
    database: Database, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.execute(
        "CREATE SCHEMA stop; CREATE VIEW stop.stop AS SELECT i, pg_sleep(0.001)::text FROM generate_series(1, 100000) i"
    )
    database.reader("stop_reader", "stop")
    await shop.connect(database.url("stop_reader"))
    workers = caught_workers(monkeypatch)
    begun = asyncio.create_task(shop.snapshot("stop"))
    active = "SELECT 1 FROM pg_stat_activity WHERE usename = 'stop_reader' AND query LIKE 'COPY%'"
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


async def test_a_table_larger_than_the_quota_is_refused(database: Database, opens: Opens) -> None:
    database.execute(
        "CREATE SCHEMA wide; CREATE TABLE wide.wide AS SELECT repeat('y', 1000) FROM generate_series(1, 5000)"
    )
    database.reader("wide_reader", "wide")
    shop = await opens(max_upload_mb=1)
    await shop.connect(database.url("wide_reader"))
    with pytest.raises(InvalidInput, match="larger than 1 MiB"):
        await shop.snapshot("wide")
    assert shop.is_untouched()


async def test_a_table_that_is_not_there_is_named(database: Database, shop: Shop) -> None:
    await shop.connect(database.url("reader"))
    with pytest.raises(InvalidInput, match="did you mean `orders`"):
        await shop.snapshot("order")
    with pytest.raises(InvalidInput, match="no table of source `shop` is chosen"):
        await shop.snapshot()
