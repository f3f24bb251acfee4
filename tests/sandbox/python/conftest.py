"""One executor for each kind of isolation, kept for all tests: a template with libraries is slow to start."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import duckdb
import pytest
import pytest_asyncio

from sandtable.sandbox.job import DataRef, Job, JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.local.session import LocalSession
from tests.sandbox.stores import Store, make_store, sql_job

_ISOLATION = [
    pytest.param("auto", id="namespaces", marks=pytest.mark.needs("userns")),
    pytest.param("landlock", id="landlock", marks=pytest.mark.needs("landlock")),
]


@dataclass(frozen=True, slots=True)
class Bench:
    executor: LocalExecutor
    store: Store

    def job(self, code: str, *, mode: str = "python", check: bool = True, seed: int = 1, **given: Any) -> Job:
        options = {"seed": seed, "check": check, "names": given.pop("names", {})}
        options |= {"before": given.pop("before")} if "before" in given else {}
        return sql_job(
            self.store, f"{mode}-{secrets.token_hex(6)}", code, mode=mode, options=options, **given
        )

    async def run(self, code: str, **given: Any) -> JobResult:
        job = self.job(code, **given)
        await self.executor.submit(job)
        return await self.executor.result(job.id)

    async def open(self, **given: Any) -> LocalSession:
        return await self.executor.open_session(self.job("", mode="session", **given))

    def wide(self) -> tuple[DataRef, ...]:
        return (DataRef(table="orders", path="orders.parquet"), DataRef(table="wide", path="wide.parquet"))


def _add_wide_table(store: Store) -> None:
    with duckdb.connect() as connection:
        columns = ", ".join(f"x + {index} AS c{index}" for index in range(300))
        connection.execute(
            f"COPY (SELECT {columns} FROM range(100) AS r(x)) TO '{store.folder}/wide.parquet' (FORMAT parquet)"
        )


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = make_store(tmp_path_factory.mktemp("store"))
    _add_wide_table(store)
    return store


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=_ISOLATION)
async def bench(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Bench]:
    executor = LocalExecutor(store.root, isolation=request.param)
    yield Bench(executor, store)
    await executor.aclose()
