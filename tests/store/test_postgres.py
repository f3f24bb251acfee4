"""The store in Postgres: what every store does, what servers that share one do, and what is told of trouble."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
import pytest_asyncio

from sandtable.errors import QueueFull, SandtableError
from sandtable.store.postgres.migrations import MIGRATIONS, VERSIONS
from sandtable.store.postgres.pool import Postgres
from sandtable.store.postgres.run_store import PostgresStore
from sandtable.store.run_store import RunFilter, RunNews, StoreCorrupt, StoreFull, StoreUnavailable
from tests import postgres
from tests.store.conformance import AT, Make, StoreConformance, ending, record

pytestmark = pytest.mark.needs("postgres")


class TestPostgres(StoreConformance):
    @pytest.fixture
    def make(self, postgres_url: str) -> Make:
        return lambda: PostgresStore(Postgres(postgres_url))


@pytest_asyncio.fixture
async def store(postgres_url: str) -> AsyncIterator[PostgresStore]:
    opened = PostgresStore(Postgres(postgres_url))
    await opened.open()
    yield opened
    await opened.aclose()


async def test_anyone_claims_what_is_not_pinned(store: PostgresStore) -> None:
    await store.accept(record(1, pinned=True), 10)
    await store.accept(record(2), 10)
    claimed = await store.claim("you", AT, anyones=True)
    assert claimed is not None
    assert (claimed.id, claimed.owner, claimed.status) == ("run_0002", "you", "running")
    assert await store.claim("you", AT, anyones=True) is None
    assert not await store.finish(ending(2, owner="me"))
    assert await store.finish(ending(2, owner="you"))
    pinned = await store.claim("me", AT, anyones=True)
    assert pinned is not None and pinned.pinned


async def test_users_take_turns_over_all_servers(store: PostgresStore) -> None:
    for number, user in enumerate(["ann", "ann", "ann", "bob"]):
        await store.accept(record(number, user=user), 10)
    order = [await store.claim(owner, AT, anyones=True) for owner in ("a", "b", "c", "d")]
    assert [made and made.user for made in order] == ["ann", "bob", "ann", "ann"]


async def test_the_queue_is_bounded_over_all_servers(store: PostgresStore, postgres_url: str) -> None:
    other = PostgresStore(Postgres(postgres_url))
    await other.open()
    tries = [(store, other)[n % 2].accept(record(n), 5) for n in range(20)]
    refused = [error for error in await asyncio.gather(*tries, return_exceptions=True) if error]
    await other.aclose()
    assert len(refused) == 15 and {type(error) for error in refused} == {QueueFull}
    assert await store.counts() == {"pending": 5}


async def test_what_a_server_does_the_others_hear(store: PostgresStore, postgres_url: str) -> None:
    other = PostgresStore(Postgres(postgres_url))
    heard: asyncio.Queue[RunNews] = asyncio.Queue()
    other.subscribe(heard.put_nowait)
    await other.open()
    await store.accept(record(1), 10)
    await store.claim("me", AT)
    await store.request_cancel("run_0001")
    await store.release("me")
    await store.adopt("me", "you")
    await store.claim("you", AT)
    await store.finish(ending(1, owner="you"))
    # Nothing came of these.
    await store.request_cancel("run_0001")
    assert not await store.finish(ending(1, owner="you"))
    assert await store.release("you") == 0
    await store.accept(record(2), 10)
    async with asyncio.timeout(10):
        said = [await heard.get() for _ in range(6)]
    await other.aclose()
    assert said == [
        RunNews("work", owner="me"),
        RunNews("cancel", "run_0001"),
        RunNews("work"),
        RunNews("work"),
        RunNews("ended", "run_0001"),
        RunNews("work", owner="me"),
    ]
    assert heard.empty()


async def test_texts_that_postgres_does_not_take(store: PostgresStore) -> None:
    await store.accept(record(1, search="a\0b\ud800c", user="u\0"), 10)
    assert [made.id for made in await store.list(RunFilter(text="B\ufffdC"))] == ["run_0001"]
    assert await store.list(RunFilter(text="\0", dataset_id="\0\udc00")) == []
    assert await store.get("\0\ud800") is None and await store.capsule("\0") is None


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE sandtable_capsules SET envelope = '{}'",
        "DELETE FROM sandtable_capsules",
        "TRUNCATE sandtable_capsules",
        "INSERT INTO sandtable_capsules VALUES ('run_0001', '', '{}')",
        "UPDATE sandtable_runs SET status = 'failed' WHERE id = 'run_0001'",
        "UPDATE sandtable_runs SET body = '{}' WHERE id = 'run_0001'",
        "UPDATE sandtable_runs SET status = 'succeeded' WHERE id = 'run_0002'",
        "INSERT INTO sandtable_runs (id, owner, user_name, dataset_id, created_at, body, status)"
        " VALUES ('run_9', '', '', '', '', '', 'succeeded')",
        "DELETE FROM sandtable_runs WHERE id = 'run_0002'",
        "TRUNCATE sandtable_runs CASCADE",
        "UPDATE sandtable_results SET result = '[]'",
        "DELETE FROM sandtable_results",
        "INSERT INTO sandtable_results VALUES ('run_0001', '[]')",
        "INSERT INTO sandtable_removals VALUES ('run_0002', '', '', '', '', '')",
        "INSERT INTO sandtable_removals VALUES ('run_9', '', '', '', '', '')",
        "UPDATE sandtable_removals SET rule = 'other'",
        "DELETE FROM sandtable_removals",
        "TRUNCATE sandtable_removals",
        "INSERT INTO sandtable_runs (id, owner, user_name, dataset_id, created_at, body)"
        " VALUES ('run_0003', '', '', '', '', '')",
    ],
)
async def test_the_database_itself_refuses_to_rewrite_history(
    store: PostgresStore, postgres_url: str, sql: str
) -> None:
    await store.accept(record(1), 10)
    await store.claim("me", AT)
    await store.finish(ending(1))
    await store.accept(record(3), 10)
    await store.claim("me", AT)
    await store.finish(ending(3))
    assert await store.holdings.remove(["run_0003"], AT, "age") == ["run_0003"]
    await store.accept(record(2), 10)
    with (
        psycopg.connect(postgres_url, autocommit=True) as connection,
        pytest.raises(psycopg.errors.IntegrityError),
    ):
        connection.execute(sql.encode())


@pytest.mark.parametrize(
    ("sqlstate", "kind", "says"),
    [
        ("53100", StoreFull, "no space is left"),
        ("XX001", StoreCorrupt, "is damaged"),
        ("25006", StoreUnavailable, "cannot be used"),
        ("42501", StoreUnavailable, "does not let Sandtable"),
        ("40P01", StoreUnavailable, "cannot be used"),
    ],
    ids=["disk full", "damaged page", "standby", "no permission", "deadlock"],
)
async def test_trouble_is_told_and_nothing_is_lost(
    store: PostgresStore, postgres_url: str, sqlstate: str, kind: type[SandtableError], says: str
) -> None:
    await store.accept(record(1), 10)
    await store.claim("me", AT)
    breaks = (
        "CREATE FUNCTION breaks() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = '{sqlstate}'; END $$",
        "CREATE TRIGGER breaks BEFORE INSERT ON sandtable_capsules EXECUTE FUNCTION breaks()",
    )
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for statement in breaks:
            connection.execute(statement.encode())
        with pytest.raises(kind, match=says):
            await store.finish(ending(1))
        connection.execute("DROP TRIGGER breaks ON sandtable_capsules")
    assert await store.capsule("run_0001") is None
    assert await store.finish(ending(1))


async def test_a_probe_finds_a_database_that_only_reads(store: PostgresStore, postgres_url: str) -> None:
    await store.probe()
    for mode in ("on", "off"):
        async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as admin:
            name = admin.info.dbname
            await admin.execute("SET default_transaction_read_only = off")
            await admin.execute(
                f'ALTER DATABASE "{name}" SET default_transaction_read_only = {mode}'.encode()
            )
            # The setting holds for connections that are made from now on.
            await admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = %s AND pid <> pg_backend_pid()",
                (name,),
            )
        if mode == "on":
            with pytest.raises(StoreUnavailable, match="read-only"):
                await store.probe()
    await store.probe()


async def test_a_probe_finds_tables_that_are_gone(store: PostgresStore, postgres_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as admin:
        await admin.execute(f"DROP TABLE {VERSIONS}".encode())
    with pytest.raises(StoreUnavailable, match="does not let Sandtable use its tables"):
        await store.probe()


async def test_tables_that_are_gone_are_told(store: PostgresStore, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP TABLE sandtable_runs CASCADE")
    with pytest.raises(StoreUnavailable, match="sandtable_runs"):
        await store.get("run_0001")


async def test_a_lost_connection_is_made_again(store: PostgresStore, postgres_url: str) -> None:
    await store.accept(record(1), 10)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    assert await store.get("run_0001")


async def test_a_closed_store_says_so(postgres_url: str) -> None:
    store = PostgresStore(Postgres(postgres_url))
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.get("run_0001")
    await store.open()
    await store.aclose()
    await store.aclose()


async def test_a_newer_schema_is_left_alone(store: PostgresStore, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"INSERT INTO {VERSIONS} VALUES ({len(MIGRATIONS) + 1})".encode())
    with pytest.raises(StoreUnavailable, match="supports versions up to"):
        await PostgresStore(Postgres(postgres_url)).open()


async def test_runs_of_an_earlier_version_are_measured_and_may_leave(postgres_url: str) -> None:
    """As the first version made it, with a run that ended, one that was answered from it, and one that waits."""
    runs = (
        "INSERT INTO sandtable_runs (id, owner, user_name, dataset_id, created_at, body, status, result_of)"
    )
    made = (
        f"CREATE TABLE {VERSIONS} (version INTEGER NOT NULL)",
        *MIGRATIONS[0],
        f"INSERT INTO {VERSIONS} VALUES (1)",
        f"{runs} VALUES ('run_0001', 'me', 'ann', 'shop', '{AT}', '{{}}', 'succeeded', NULL),"
        f" ('run_0002', 'me', 'ann', 'shop', '{AT}', '{{}}', 'succeeded', 'run_0001'),"
        f" ('run_0003', 'me', 'ann', 'shop', '{AT}', '{{}}', 'pending', NULL)",
        "INSERT INTO sandtable_capsules SELECT id, created_at, '[0]' FROM sandtable_runs WHERE id < 'run_0003'",
        "INSERT INTO sandtable_results VALUES ('run_0001', '[[1]]')",
    )
    with psycopg.connect(postgres_url) as connection:
        for statement in made:
            connection.execute(statement.encode())
    store = PostgresStore(Postgres(postgres_url))
    await store.open()
    assert {one.id: one.bytes for one in await store.holdings.runs()} == {
        "run_0001": 10, "run_0002": 5, "run_0003": 0
    }  # fmt: skip
    assert await store.holdings.remove(["run_0001"], AT, "age") == []
    with psycopg.connect(postgres_url) as connection, pytest.raises(psycopg.errors.IntegrityError):
        connection.execute("UPDATE sandtable_runs SET bytes = 0 WHERE id = 'run_0001'")
    chosen = ["run_0001", "run_0002", "run_0003"]
    assert await store.holdings.remove(chosen, AT, "age") == ["run_0001", "run_0002"]
    await store.aclose()


async def test_servers_that_start_together_make_one_schema(postgres_url: str) -> None:
    stores = [PostgresStore(Postgres(postgres_url)) for _ in range(5)]
    await asyncio.gather(*(store.open() for store in stores))
    await asyncio.gather(*(store.aclose() for store in stores))
    with psycopg.connect(postgres_url) as connection:
        versions = connection.execute(f"SELECT version FROM {VERSIONS} ORDER BY 1".encode()).fetchall()
    assert versions == [(number,) for number in range(1, len(MIGRATIONS) + 1)]


async def test_a_wrong_password_is_not_repeated(
    cluster: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    store = PostgresStore(Postgres(cluster.replace(postgres.PASSWORD, "hunter2hunter2")))
    with pytest.raises(StoreUnavailable, match="password authentication failed") as caught:
        await store.open()
    assert "hunter2" not in f"{caught.value.problem}{caplog.text}{capfd.readouterr()}"


class DeafPool:
    """Loses a cancellation, as the driver does when it comes together with an answer."""

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[None]:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        yield

    async def close(self) -> None:
        return


async def test_a_cancellation_that_the_driver_loses_is_heard(postgres_url: str) -> None:
    postgres = Postgres(postgres_url)
    postgres._pool = DeafPool()  # pyright: ignore[reportAttributeAccessIssue] - a double of the pool

    async def work() -> None:
        async with postgres.connection():
            pass
        await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    _, left = await asyncio.wait({task}, timeout=5)
    assert not left
