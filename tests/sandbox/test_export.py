"""Parquet made in a real sandbox, with namespaces and with Landlock alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import pytest_asyncio

from sandtable.catalog.stored.store import DataStore
from sandtable.errors import InvalidInput, RunnerBroken
from sandtable.sandbox.export import parquet_of
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.sandbox.job import Limits, ResultColumn
from sandtable.sandbox.local.executor import LocalExecutor

COLUMNS = (
    ResultColumn(name="day", type="DATE"),
    ResultColumn(name="total", type="DECIMAL(12,2)"),
    ResultColumn(name="größe", type="VARCHAR"),
)
ROWS: tuple[tuple[Any, ...], ...] = (("2024-02-29", -0.1, "🦆"), (None, None, None))
WORLDS = [
    pytest.param("auto", id="namespaces", marks=pytest.mark.needs("userns")),
    pytest.param("landlock", id="landlock", marks=pytest.mark.needs("landlock")),
]


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    tmp_path.chmod(0o755)
    return DataStore(tmp_path / "data")


@pytest_asyncio.fixture(params=WORLDS)
async def executor(store: DataStore, request: pytest.FixtureRequest) -> AsyncIterator[LocalExecutor]:
    executor = LocalExecutor(store.root, isolation=request.param)
    await executor.start()
    yield executor
    await executor.aclose()


async def test_a_result_becomes_a_file_and_leaves_nothing_behind(
    executor: LocalExecutor, store: DataStore, tmp_path: Path
) -> None:
    file = tmp_path / "r.parquet"
    for _ in range(2):
        file.write_bytes(await parquet_of(executor, store, COLUMNS, ROWS, Limits()))
        await executor.settle()
    read = duckdb.execute(
        f"SELECT day::VARCHAR, total::VARCHAR, größe FROM read_parquet('{file}')"
    ).fetchall()
    assert read == [("2024-02-29", "-0.10", "🦆"), (None, None, None)]
    described = duckdb.execute(f"DESCRIBE FROM read_parquet('{file}')").fetchall()
    assert [row[1] for row in described] == ["DATE", "DECIMAL(12,2)", "VARCHAR"]
    assert not [*store.root.glob("incoming/*"), *store.root.glob("staging/*")]


async def test_a_file_is_bounded_by_the_runs_own_limit(executor: LocalExecutor, store: DataStore) -> None:
    rows = [(f"{i * 7919 % 1_000_003:x}" * 40,) for i in range(6_000)]
    column = (ResultColumn(name="x", type="VARCHAR"),)
    assert await parquet_of(executor, store, column, rows, Limits(result_bytes=4 << 20))
    assert await parquet_of(executor, store, column, (), Limits(result_bytes=256))


@pytest.mark.parametrize(
    "output", [{}, {"parquet": "not base64!"}, {"parquet": "UEFSMQ=="}, {"parquet": "QUJDREVGR0hJSktM"}]
)
async def test_an_answer_that_is_no_parquet_is_not_passed_on(
    store: DataStore, output: dict[str, Any]
) -> None:
    executor = FakeExecutor(Script(columns=(), rows=(), output=output))
    with pytest.raises(RunnerBroken, match="no Parquet file"):
        await parquet_of(executor, store, COLUMNS, ROWS, Limits())
    assert not [*store.root.glob("staging/*")]


async def test_a_result_that_no_job_can_hold_is_refused_before_one_is_made(store: DataStore) -> None:
    executor = FakeExecutor()
    rows = [("x" * (1 << 20),)] * 50
    with pytest.raises(InvalidInput, match="more than 48 MiB") as caught:
        await parquet_of(executor, store, COLUMNS[:1], rows, Limits(result_bytes=100 << 20))
    assert "CSV" in caught.value.suggestion and not executor.jobs
