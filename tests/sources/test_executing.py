"""Queries in a connected PostgreSQL: one statement that only reads, within its limits, by workers that are kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import ErrorCode, InvalidInput
from sandtable.sandbox.live import worker as workers_module
from tests.sources.conftest import SECRET, Database, caught_workers
from tests.sources.executing import Live, error_of, job_of, opened, until

pytestmark = pytest.mark.needs("postgres", "userns")

Opens = Callable[..., Live]
ACTIVE = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'"


@pytest.fixture
async def opens(database: Database, tmp_path: Path) -> AsyncIterator[Opens]:
    made: list[Live] = []

    def open_one(role: str = "reader", **options: Any) -> Live:
        made.append(opened(tmp_path / f"home-{len(made)}", database.url(role), **options))
        return made[-1]

    yield open_one
    for live in made:
        await live.executor.aclose()


@pytest.fixture
def live(opens: Opens) -> Live:
    return opens()


async def test_rows_are_bounded_and_say_so(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = caught_workers(monkeypatch)
    few = await live.run("SELECT * FROM generate_series(1, 5)", rows=5)
    assert (few.row_count, few.truncated) == (5, False)
    more = await live.run("SELECT * FROM generate_series(1, 6)", rows=5)
    assert (more.row_count, more.truncated, more.rows[-1]) == (5, True, (5,))
    # Far more than is read to the end: the statement is cancelled.
    began = time.monotonic()
    endless = await live.run(
        "SELECT generate_series(1, 50000000), repeat('x', 1000)", [("i", "INTEGER"), ("x", "VARCHAR")], rows=3
    )
    assert (endless.row_count, endless.truncated) == (3, True)
    assert time.monotonic() - began < 10
    none = await live.run("SELECT 1 WHERE false")
    assert (none.row_count, none.truncated, [c.name for c in none.columns]) == (0, False, ["n"])
    assert len(workers) == 1


async def test_large_values_and_results_are_refused_as_by_duckdb(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "WorkerLimits", partial(workers_module.WorkerLimits, memory_mb=64))
    wide = [("x", "VARCHAR")]
    one = await live.run("SELECT repeat('x', 200)", wide, cell_bytes=100)
    assert error_of(one)[:2] == ("RUNNER_RESOURCE_EXCEEDED", "ResultTooLarge")
    assert "a value of column 'x' has 202 bytes; the limit is 100" in error_of(one)[2]
    many = await live.run("SELECT repeat('x', 90) FROM generate_series(1, 1000)", wide, result_bytes=2000)
    assert error_of(many)[:2] == ("RUNNER_RESOURCE_EXCEEDED", "ResultTooLarge")
    assert "the result has more than 2" in error_of(many)[2]
    names = await live.run("SELECT 1", [("n" * 300, "INTEGER")], result_bytes=256)
    assert "the names of 1 columns have" in error_of(names)[2]
    # More than a worker has memory for.
    huge = await live.run("SELECT repeat('x', 100000000)", wide)
    assert error_of(huge)[:2] == ("RUNNER_RESOURCE_EXCEEDED", "MemoryError")
    assert (await live.run("SELECT 1")).rows == ((1,),)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT 1; SELECT 2", "DatabaseError"),
        ("SELECT 1; COMMIT; DELETE FROM shop.orders", "DatabaseError"),
        ("COMMIT", "NoQuery"),
        ("COPY shop.orders TO STDOUT", "NoQuery"),
        ("SET timezone = 'Asia/Tokyo'", "NoQuery"),
        ("DELETE FROM scratch.t", "NoQuery"),
        ("", "NoQuery"),
        ("DELETE FROM scratch.t RETURNING n", "ReadOnly"),
        ("SELECT nextval('scratch.s')", "ReadOnly"),
        ("WITH d AS (INSERT INTO scratch.t VALUES (9) RETURNING n) SELECT n FROM d", "ReadOnly"),
        ("SELECT length(set_config('transaction_read_only', 'off', true))", "DatabaseError"),
        ("SELECT 1\0; SELECT 2", "BadText"),
        ("SELECT '\ud800'", "BadText"),
        ("SELECT $1::int", "DatabaseError"),
        ("SELECT 1, 2", "SchemaChanged"),
    ],
)  # fmt: skip
async def test_only_one_statement_that_reads_is_run(
    writer: Live, database: Database, text: str, kind: str
) -> None:
    """By a role that may write."""
    found = await writer.run(text)
    assert error_of(found)[:2] == ("VALIDATION_ERROR", kind)
    assert database.execute("SELECT n FROM scratch.t") == [(1,)]
    assert (await writer.run("SELECT n FROM scratch.t")).rows == ((1,),)


@pytest.fixture
async def writer(opens: Opens, database: Database) -> Live:
    if not database.execute("SELECT 1 FROM pg_roles WHERE rolname = 'writer'"):
        database.execute(
            f"CREATE ROLE writer LOGIN PASSWORD '{SECRET}'; CREATE SCHEMA scratch AUTHORIZATION writer;"
            " CREATE SEQUENCE scratch.s; CREATE TABLE scratch.t AS SELECT 1 AS n;"
            " GRANT ALL ON SCHEMA scratch TO writer; GRANT ALL ON scratch.t, scratch.s TO writer"
        )
    return opens("writer", allowed_writer="writer")


async def test_a_role_that_can_write_is_refused_unless_it_was_allowed(writer: Live, opens: Opens) -> None:
    assert (await writer.run("SELECT 1")).rows == ((1,),)
    code, kind, words = error_of(await opens("writer").run("SELECT 1"))
    assert (code, kind) == ("VALIDATION_ERROR", "InvalidInput")
    assert "scratch" in words


async def test_what_a_statement_sets_does_not_outlive_it(live: Live) -> None:
    shown = "SELECT current_setting('timezone') || current_setting('search_path')"
    columns = [("s", "VARCHAR")]
    before = await live.run(shown, columns)
    assert before.rows == (("UTCpg_catalog",),)
    await live.run(
        "SELECT set_config('timezone', 'Asia/Tokyo', false) || set_config('search_path', 'shop', false)",
        columns,
    )
    assert (await live.run(shown, columns)).rows == before.rows


async def test_a_dry_run_reads_no_row(live: Live) -> None:
    slow = "SELECT 1 / (i - 500) FROM generate_series(1, 1000) i, pg_sleep(20)"
    explained = await live.run(slow, mode="dry_run")
    assert explained.status == "succeeded", explained.error
    assert "Function Scan on generate_series" in explained.output["explain"]
    assert (explained.rows, [c.type for c in explained.columns]) == ((), ["INTEGER"])
    assert error_of(await live.run("SELECT gone FROM shop.orders", mode="dry_run"))[1] == "SchemaChanged"
    assert error_of(await live.run("ANALYZE SELECT 1", mode="dry_run"))[1] == "DatabaseError"


async def test_the_schema_is_what_the_role_may_read(live: Live) -> None:
    job = job_of("", mode="fetch_schema").model_copy(update={"options": {"schemas": ["shop"]}})
    await live.executor.submit(job)
    found = (await live.executor.result(job.id)).output["tables"]
    assert [table["name"] for table in found] == ["customers", "orders"]
    assert found[1]["key"] == ["no"]


async def test_a_statement_that_takes_too_long_is_ended_and_its_worker_kept(
    live: Live, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = caught_workers(monkeypatch)
    assert (await live.run("SELECT 1")).status == "succeeded"
    found = await live.run("SELECT 1 FROM pg_sleep(30)", wall_ms=3000)
    assert error_of(found)[:2] == ("RUNNER_TIMEOUT", "Timeout")
    assert "stopped after 3 s, the limit of this run" in error_of(found)[2]
    assert (await live.run("SELECT 1")).status == "succeeded"
    assert len(workers) == 1
    await until(lambda: database.execute(ACTIVE) == [(0,)])


async def test_cancelled_and_waiting_jobs(
    live: Live, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = caught_workers(monkeypatch)
    slow = [job_of("SELECT 1 FROM pg_sleep(30)") for _ in range(2)]
    for job in slow:
        await live.executor.submit(job)
    await until(lambda: database.execute(ACTIVE) == [(2,)])
    waiting = job_of("SELECT 1", wall_ms=300)
    await live.executor.submit(waiting)
    await asyncio.sleep(0)
    assert [await live.executor.status(job.id) for job in (slow[0], waiting)] == ["running", "pending"]
    found = await live.executor.result(waiting.id)
    assert error_of(found)[:2] == ("RUNNER_TIMEOUT", "Timeout")
    assert "waited 0.3 s, the limit of this run, for one of the 2 connections" in error_of(found)[2]
    next_one = job_of("SELECT 7")
    await live.executor.submit(next_one)
    await live.executor.cancel(slow[0].id)
    assert (await live.executor.result(slow[0].id)).status == "cancelled"
    assert (await live.executor.result(next_one.id)).rows == ((7,),)
    dropped = job_of("SELECT 8")
    await live.executor.submit(dropped)
    await live.executor.cancel(dropped.id)
    assert (await live.executor.result(dropped.id)).status == "cancelled"
    await live.executor.aclose()
    assert (await live.executor.result(slow[1].id)).status == "cancelled"
    assert [worker.alive for worker in workers] == [False] * 3
    # The database looks whether anybody still waits for an answer.
    await until(lambda: database.execute(ACTIVE) == [(0,)])


async def test_workers_are_kept_until_they_are_idle_or_the_source_is_another(
    live: Live, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = caught_workers(monkeypatch)
    pids = {(await live.run("SELECT pg_backend_pid()")).rows for _ in range(5)}
    assert (len(workers), len(pids)) == (1, 1)
    live.records.write(live.records.get("shop").model_copy(update={"connected_at": "later"}), SECRET)
    assert (await live.run("SELECT pg_backend_pid()")).rows not in pids
    await until(lambda: not workers[0].alive)
    live.executor._workers._idle_s = 0.1
    assert (await live.run("SELECT 1")).status == "succeeded"
    await until(lambda: not workers[1].alive)
    live.executor._workers._idle_s = 60
    assert (await live.run("SELECT 1")).status == "succeeded"
    live.records.remove("shop")
    assert error_of(await live.run("SELECT 1"))[0] == ErrorCode.NOT_FOUND
    await until(lambda: not workers[2].alive)
    assert len(workers) == 3


async def test_a_job_says_its_columns(live: Live) -> None:
    job = job_of("SELECT 1")
    for options in ({}, {"columns": "n"}, {"columns": [{"name": "n"}]}):
        with pytest.raises(InvalidInput, match="what the columns of its query are"):
            await live.executor.submit(job.model_copy(update={"options": options}))
    with pytest.raises(InvalidInput, match="takes no jobs of mode"):
        await live.executor.submit(job.model_copy(update={"mode": "python"}))


async def test_an_answer_in_another_form_is_none(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a worker that a database has taken over."""
    ask = workers_module.LiveWorker.ask
    for answer in (
        [],
        {"status": "succeeded", "columns": [{"name": "n", "type": "BIGINT"}], "rows": [[1]], "row_count": 1},
    ):

        async def lies(self: Any, op: str, *rest: Any, answer: Any = answer, **named: Any) -> Any:
            return answer if op == "execute" else await ask(self, op, *rest, **named)

        monkeypatch.setattr(workers_module.LiveWorker, "ask", lies)
        assert error_of(await live.run("SELECT 1"))[:2] == ("RUNNER_INTERNAL_ERROR", "BadAnswer")
    monkeypatch.setattr(workers_module.LiveWorker, "ask", ask)
    assert (await live.run("SELECT 1")).rows == ((1,),)
