"""What our own compiler wrote is read and run by one sandbox; a sandbox that is held runs nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.engines.duckdb.rules import RULES
from sandtable.policy.verdict import Approved
from sandtable.sandbox.gate import LARGE_ROWS, Gate
from sandtable.sandbox.job import Job, JobResult, Limits
from sandtable.sandbox.local import held
from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.local.processes import family, gone
from tests.sandbox.stores import ROWS, Store, sql_job

SQL = "SELECT region, sum(amount) AS total FROM orders GROUP BY region ORDER BY region"
OTHER = "SELECT count(*) AS n FROM orders"


def dataset_of(store: Store, rows: int = ROWS) -> Dataset:
    kinds = {"id": ColumnType.INTEGER, "region": ColumnType.TEXT, "amount": ColumnType.FLOAT}
    columns = tuple(Column(name=name, type=kind, sql_type="BIGINT") for name, kind in kinds.items())
    table = Table(name="orders", file="orders.parquet", sha256="a" * 64, columns=columns, rows=rows)
    return Dataset(id="shop", tables=(table,), version=store.version)


@pytest_asyncio.fixture
async def executor(store: Store, isolation: str) -> AsyncIterator[LocalExecutor]:
    made = LocalExecutor(store.root, isolation=isolation, standby=0, presealed=0, parallel=3)
    await made.start()
    yield made
    await made.aclose()


async def judged(executor: LocalExecutor, store: Store, sql: str, rows: int = ROWS) -> str:
    job = sql_job(store, "limits", "")
    gate = Gate(executor, RULES, max_bytes=10_000, remembered=0)
    verdict = await gate.compiled(sql, dataset_of(store, rows), job.data, job.limits)
    assert isinstance(verdict, Approved), verdict
    return verdict.sql


async def ran(executor: LocalExecutor, job: Job) -> JobResult:
    await executor.submit(job)
    return await executor.result(job.id)


async def sandboxes(executor: LocalExecutor) -> set[int]:
    """Those that wait: nothing is on a shelf here, so they are the held ones."""
    await asyncio.sleep(0.1)
    template = (await executor.start()).pid
    return {pid for pid in family(template) if pid != template}


async def test_the_run_finds_the_sandbox_that_read_its_text(executor: LocalExecutor, store: Store) -> None:
    none = await sandboxes(executor)
    canonical = await judged(executor, store, SQL)
    waiting = await sandboxes(executor) - none
    assert len(waiting) == 1
    result = await ran(executor, sql_job(store, "run", canonical))
    assert result.status == "succeeded"
    assert [row[0] for row in result.rows] == ["east", "north", "south"]
    assert not await gone(waiting)
    again = await ran(executor, sql_job(store, "again", canonical))
    assert again.rows == result.rows


@pytest.mark.parametrize("what", ["another text", "other limits", "other data"])
async def test_it_runs_nothing_else(executor: LocalExecutor, store: Store, what: str) -> None:
    none = await sandboxes(executor)
    canonical = await judged(executor, store, SQL)
    waiting = await sandboxes(executor) - none
    job = sql_job(store, "run", canonical)
    changes = {
        "another text": {"text": OTHER},
        "other limits": {"limits": job.limits.model_copy(update={"memory_mb": 512})},
        "other data": {"data": (), "text": "SELECT 1 AS n"},
    }
    result = await ran(executor, job.model_copy(update=changes[what]))
    assert result.status == "succeeded", result
    assert await sandboxes(executor) - none == waiting


async def test_it_does_not_wait_for_long(
    executor: LocalExecutor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "_PATIENCE_S", 0.3)
    none = await sandboxes(executor)
    canonical = await judged(executor, store, SQL)
    waiting = await sandboxes(executor) - none
    assert len(waiting) == 1
    assert not await gone(waiting)
    assert (await ran(executor, sql_job(store, "late", canonical))).status == "succeeded"


async def test_few_are_held_at_a_time(executor: LocalExecutor, store: Store) -> None:
    none = await sandboxes(executor)
    for number in range(5):
        await judged(executor, store, f"{SQL} LIMIT {number + 1}")
    assert len(await sandboxes(executor) - none) == 3


async def test_one_that_died_is_not_missed(executor: LocalExecutor, store: Store) -> None:
    none = await sandboxes(executor)
    canonical = await judged(executor, store, SQL)
    for sandbox, _ in executor._held._sandboxes.values():
        sandbox.kill()
        # The news of its end, not only the end.
        await asyncio.wait_for(asyncio.shield(sandbox.ended), 20)
    assert not await gone(await sandboxes(executor) - none)
    assert (await ran(executor, sql_job(store, "run", canonical))).status == "succeeded"


async def test_large_data_is_left_to_parsers_without_data(executor: LocalExecutor, store: Store) -> None:
    none = await sandboxes(executor)
    await judged(executor, store, SQL, rows=LARGE_ROWS)
    assert await sandboxes(executor) == none


async def test_nothing_is_left_at_the_end(store: Store, isolation: str) -> None:
    executor = LocalExecutor(store.root, isolation=isolation, standby=0, presealed=0)
    await executor.start()
    await judged(executor, store, SQL)
    everyone = family((await executor.start()).pid)
    await executor.aclose()
    assert not await gone(everyone)


async def test_a_run_may_end_within_less_than_the_parse_may_take(store: Store, isolation: str) -> None:
    """The parse has limits of its own where they are not the sandbox's."""
    executor = LocalExecutor(store.root, isolation=isolation, standby=0, presealed=0)
    limits = Limits.model_validate({"wall_ms": 1, "rows": 1, "result_bytes": 256})
    gate = Gate(executor, RULES, max_bytes=10_000)
    job = sql_job(store, "limits", "")
    assert isinstance(await gate.compiled(SQL, dataset_of(store), job.data, limits), Approved)
    await executor.aclose()
