"""Kernels for each kind of isolation, kept for all tests: a template with libraries is slow to start."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import duckdb
import pytest
import pytest_asyncio

from sandtable.sandbox.job import DataRef, Job
from sandtable.sandbox.local.jupyter_session import JupyterHost, JupyterSession
from sandtable.sandbox.local.kernels import Kernels, SandboxedKernel
from tests.sandbox.stores import Store, make_store, sql_job

_ISOLATION = [
    pytest.param("auto", id="namespaces", marks=pytest.mark.needs("userns")),
    pytest.param("landlock", id="landlock", marks=pytest.mark.needs("landlock")),
]


@dataclass(frozen=True, slots=True)
class Bench:
    kernels: Kernels
    host: JupyterHost
    store: Store

    def job(self, *, check: bool = True, **given: Any) -> Job:
        options = {"check": check, "names": given.pop("names", {})}
        return sql_job(
            self.store, f"kernel-{secrets.token_hex(6)}", "", mode="session", options=options, **given
        )

    async def open(self, **given: Any) -> JupyterSession:
        return await self.host.open_session(self.job(**given))

    async def kernel(self, **given: Any) -> SandboxedKernel:
        return await self.kernels.open(self.job(check=False, **given))

    def wide(self) -> tuple[DataRef, ...]:
        return (DataRef(table="orders", path="orders.parquet"), DataRef(table="wide", path="wide.parquet"))


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = make_store(tmp_path_factory.mktemp("store"))
    with duckdb.connect() as connection:
        columns = ", ".join(f"x + {index} AS c{index}" for index in range(300))
        wide = f"{store.folder}/wide.parquet"
        connection.execute(f"COPY (SELECT {columns} FROM range(100) AS r(x)) TO '{wide}' (FORMAT parquet)")
    return store


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=_ISOLATION)
async def bench(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Bench]:
    kernels = Kernels(store.root, isolation=request.param)
    host = JupyterHost(kernels)
    yield Bench(kernels, host, store)
    await host.aclose()
