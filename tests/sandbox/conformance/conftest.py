"""`bench`: every executor that runs queries. `any_bench`: the scripted ones too."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandtable.sandbox.executor import Executor
from tests.sandbox.conformance.benches import REAL, SCRIPTED, Bench
from tests.sandbox.stores import Store, make_store

_REAL = [pytest.param(make, id=name, marks=pytest.mark.needs(*needs)) for name, (make, needs) in REAL.items()]
_SCRIPTED = [pytest.param(make, id=name) for name, make in SCRIPTED.items()]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_store(tmp_path_factory.mktemp("store"))


async def _bench(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Bench]:
    executor: Executor = request.param(store)
    yield Bench(executor, store)
    await executor.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=_REAL)
async def bench(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Bench]:
    async for made in _bench(request, store):
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=[*_REAL, *_SCRIPTED])
async def any_bench(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Bench]:
    async for made in _bench(request, store):
        yield made
