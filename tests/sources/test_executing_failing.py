"""What goes wrong while queries run in a connected PostgreSQL: each run ends once, and no text is run twice."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sandtable.sandbox.live.worker import LiveWorker
from tests import postgres
from tests.sources.conftest import SECRET, SPEED, Database, caught_workers, database_of, started
from tests.sources.executing import Live, error_of, job_of, opened, until

pytestmark = pytest.mark.needs("postgres", "userns")

# Each call is a line of the server's log.
MARKS = """
CREATE SCHEMA marks;
CREATE FUNCTION marks.mark(name text, seconds float8) RETURNS int LANGUAGE plpgsql AS $$
BEGIN RAISE LOG 'marked %', name; PERFORM pg_catalog.pg_sleep(seconds); RETURN 1; END $$;
"""


@pytest.fixture(scope="module")
def marked(database: Database) -> Iterator[Database]:
    database.execute(MARKS)
    database.reader("marker", "marks")
    yield database


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[LiveWorker]:
    return caught_workers(monkeypatch)


@pytest.fixture
async def live(marked: Database, tmp_path: Path) -> AsyncIterator[Live]:
    made = opened(tmp_path, marked.url("marker"))
    yield made
    await made.executor.aclose()


def _marks(database: Database) -> Counter[str]:
    return Counter(re.findall(r"LOG:  marked (\S+)", (database.folder / "log").read_text()))


async def test_twenty_killed_workers_end_twenty_runs_once(
    live: Live, marked: Database, workers: list[LiveWorker]
) -> None:
    killed: list[str] = []
    for each in range(10):
        names = [f"kill-{each}-{place}" for place in range(3)]
        jobs = [job_of(f"SELECT marks.mark('{name}', {0 if name == names[2] else 20})") for name in names]
        for job in jobs:
            await live.executor.submit(job)
        await until(lambda names=names: all(_marks(marked)[name] for name in names[:2]))
        for worker in workers:
            if worker.alive:
                os.kill(worker.pid, signal.SIGKILL)
        ends = [await live.executor.result(job.id) for job in jobs]
        for end in ends[:2]:
            code, kind, words = error_of(end)
            assert (code, kind) == ("RUNNER_INTERNAL_ERROR", "WorkerLost")
            assert "ended before its answer was complete" in words
        assert ends[2].rows == ((1,),)
        killed += names[:2]
    assert len(killed) == 20
    counted = _marks(marked)
    assert {counted[name] for name in killed} == {1}
    assert {counted[f"kill-{each}-2"] for each in range(10)} == {1}
    # The database notices that the workers of those are gone.
    left = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'marker' AND state = 'active'"
    await until(lambda: marked.execute(left) == [(0,)])


async def test_a_worker_that_hangs_is_killed_at_the_limit(live: Live, workers: list[LiveWorker]) -> None:
    assert (await live.run("SELECT 1")).status == "succeeded"
    (inner,) = Path(f"/proc/{workers[0].pid}/task/{workers[0].pid}/children").read_text().split()
    os.kill(int(inner), signal.SIGSTOP)
    assert error_of(await live.run("SELECT 1", wall_ms=500))[:2] == ("RUNNER_TIMEOUT", "Timeout")
    await until(lambda: not workers[0].alive)
    assert (await live.run("SELECT 1")).status == "succeeded"


async def test_a_connection_that_was_lost_while_idle_is_made_again_once(
    live: Live, marked: Database, workers: list[LiveWorker]
) -> None:
    assert (await live.run("SELECT 1")).status == "succeeded"
    gone = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'marker'"
    assert marked.execute(gone) == [(True,)]
    assert (await live.run("SELECT marks.mark('idle', 0)")).rows == ((1,),)
    assert (len(workers), _marks(marked)["idle"]) == (1, 1)


@pytest.mark.parametrize(
    ("act", "kind"), [("pg_terminate_backend", "DatabaseStopped"), ("pg_cancel_backend", "QueryEnded")]
)
async def test_a_statement_that_others_end(
    live: Live, marked: Database, workers: list[LiveWorker], act: str, kind: str
) -> None:
    running = asyncio.create_task(live.run(f"SELECT marks.mark('{act}', 20)"))
    await until(lambda: _marks(marked)[act] == 1)
    marked.execute(f"SELECT {act}(pid) FROM pg_stat_activity WHERE usename = 'marker' AND state = 'active'")
    assert error_of(await running)[:2] == ("RUNNER_INTERNAL_ERROR", kind)
    assert (await live.run("SELECT 1")).status == "succeeded"
    assert (len(workers), _marks(marked)[act]) == (1, 1)


async def test_a_server_that_dies_and_comes_back(tmp_path: Path, workers: list[LiveWorker]) -> None:
    cluster, port = started()
    with cluster as address:
        database = database_of(address, port)
        database.execute(MARKS)
        database.reader("marker", "marks")
        live = opened(tmp_path, database.url("marker"))
        try:
            running = asyncio.create_task(live.run("SELECT marks.mark('stop', 20)"))
            await until(lambda: _marks(database)["stop"] == 1)
            postmaster = int((database.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
            os.kill(postmaster, signal.SIGQUIT)
            code, kind, words = error_of(await running)
            assert code == "RUNNER_INTERNAL_ERROR"
            assert kind in ("DatabaseStopped", "ConnectionLost")
            assert "Nothing was changed" in words
            await until(lambda: not (database.folder / "data" / "postmaster.pid").exists())
            down = error_of(await live.run("SELECT 1"))
            assert down[:2] == ("RUNNER_INTERNAL_ERROR", "DatabaseUnavailable")
            assert "cannot be reached" in down[2]
            postgres.start(database.folder, (*SPEED, f"port={port}"))
            assert (await live.run("SELECT 1")).rows == ((1,),)
            assert _marks(database)["stop"] == 1
            assert all(SECRET not in words for words in (words, down[2]))
        finally:
            await live.executor.aclose()


async def test_a_server_that_says_nothing_is_waited_for_no_longer_than_the_limit(tmp_path: Path) -> None:
    came: list[str] = []
    left: list[str] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append("one")
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        left.append("one")

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    live = opened(tmp_path, f"postgresql://marker:{SECRET}@127.0.0.1:{port}/postgres")
    try:
        code, _, words = error_of(await live.run("SELECT 1", wall_ms=2500))
        assert code == "RUNNER_TIMEOUT"
        assert "did not accept a connection within 2.5 s" in words
        await until(lambda: came == left)
    finally:
        await live.executor.aclose()
        server.close()


async def test_connections_that_the_database_refuses(marked: Database, tmp_path: Path) -> None:
    marked.reader("few", "marks")
    marked.execute("ALTER ROLE few CONNECTION LIMIT 1")
    live = opened(tmp_path, marked.url("few"))
    try:
        with psycopg.connect(marked.url("few")):
            full = error_of(await live.run("SELECT 1"))
        assert full[:2] == ("RUNNER_INTERNAL_ERROR", "NoFreeConnection")
        marked.execute("ALTER ROLE few VALID UNTIL '2020-01-01'")
        expired = error_of(await live.run("SELECT 1"))
        assert expired[:2] == ("RUNNER_INTERNAL_ERROR", "CredentialRefused")
        assert "with a password that is valid" in expired[2]
        marked.execute("ALTER ROLE few VALID UNTIL 'infinity' PASSWORD 'another'")
        assert error_of(await live.run("SELECT 1"))[1] == "CredentialRefused"
        live.records.write(live.records.get("shop"), "another")
        await until(
            lambda: marked.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = 'few'") == [(0,)]
        )
        assert (await live.run("SELECT 1")).rows == ((1,),)
        assert SECRET not in f"{full}{expired}"
    finally:
        await live.executor.aclose()


CHANGES: list[tuple[str, str, str, str]] = [
    ("ALTER TABLE moving.t RENAME COLUMN n TO m", "VALIDATION_ERROR", "SchemaChanged", "refresh the dataset"),
    ("ALTER TABLE moving.t ALTER n TYPE text USING 'x'", "VALIDATION_ERROR", "BadValue", "refresh the dataset"),
    ("ALTER TABLE moving.t ALTER n TYPE uuid USING NULL", "VALIDATION_ERROR", "SchemaChanged", "another type"),
    ("REVOKE SELECT ON moving.t FROM mover", "VALIDATION_ERROR", "PermissionDenied", "GRANT SELECT"),
    ("DROP TABLE moving.t", "VALIDATION_ERROR", "SchemaChanged", "refresh the dataset"),
    (
        "ALTER TABLE moving.t RENAME TO u; CREATE VIEW moving.t AS SELECT 1 / (n - n) AS n FROM moving.u;"
        " GRANT SELECT ON moving.t TO mover",
        "VALIDATION_ERROR", "DatabaseError", "division by zero",
    ),
    (
        f"ALTER TABLE moving.t RENAME TO u; CREATE VIEW moving.t AS SELECT ('{SECRET}' || n)::int AS n FROM moving.u;"
        " GRANT SELECT ON moving.t TO mover",
        "VALIDATION_ERROR", "DatabaseError", "(not shown)",
    ),
]  # fmt: skip


async def test_tables_that_were_changed(marked: Database, tmp_path: Path) -> None:
    marked.execute("CREATE SCHEMA moving")
    marked.reader("mover", "moving")
    live = opened(tmp_path, marked.url("mover"))
    try:
        for change, code, kind, says in CHANGES:
            marked.execute(
                "DROP SCHEMA moving CASCADE; CREATE SCHEMA moving; CREATE TABLE moving.t AS SELECT 1 AS n;"
                " GRANT USAGE ON SCHEMA moving TO mover; GRANT SELECT ON moving.t TO mover"
            )
            assert (await live.run("SELECT n FROM moving.t")).rows == ((1,),)
            marked.execute(change)
            found: Any = error_of(await live.run("SELECT n FROM moving.t"))
            assert found[:2] == (code, kind), change
            assert says in found[2]
            assert SECRET not in found[2]
    finally:
        await live.executor.aclose()


async def test_a_table_that_others_have_locked_is_waited_for_no_longer_than_the_limit(
    live: Live, marked: Database
) -> None:
    marked.execute("CREATE TABLE marks.held AS SELECT 1 AS n; GRANT SELECT ON marks.held TO marker")
    with psycopg.connect(marked.admin) as other:
        other.execute("LOCK TABLE marks.held")
        code, kind, _ = error_of(await live.run("SELECT n FROM marks.held", wall_ms=1500))
        assert (code, kind) == ("RUNNER_TIMEOUT", "Timeout")
    assert (await live.run("SELECT n FROM marks.held")).rows == ((1,),)


async def test_no_worker_without_a_postgresql(marked: Database, tmp_path: Path) -> None:
    live = opened(tmp_path, f"mysql://reader:{SECRET}@127.0.0.1:{marked.port}/shop")
    code, _, words = error_of(await live.run("SELECT 1"))
    assert code == "VALIDATION_ERROR"
    assert "no PostgreSQL" in words
    await live.executor.aclose()
