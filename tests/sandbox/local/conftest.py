"""A local executor on a small data store, in both kinds of isolation."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.stores import Store, make_store

_ISOLATION = [
    pytest.param("auto", id="namespaces", marks=pytest.mark.needs("userns")),
    pytest.param("landlock", id="landlock", marks=pytest.mark.needs("landlock")),
]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_store(tmp_path_factory.mktemp("store"))


@pytest.fixture(params=_ISOLATION)
def isolation(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest_asyncio.fixture
async def executor(store: Store, isolation: str) -> AsyncIterator[LocalExecutor]:
    made = LocalExecutor(store.root, isolation=isolation)
    yield made
    await made.aclose()
