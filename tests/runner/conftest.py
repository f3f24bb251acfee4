"""An intake for files of any kind and a shelf of data to look at, through real sandboxes of both kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandtable.sandbox.local.executor import LocalExecutor
from tests.runner.ingesting import Intake
from tests.runner.profiling import Shelf
from tests.sandbox.stores import make_store

_ISOLATION = [
    pytest.param("auto", id="namespaces", marks=pytest.mark.needs("userns")),
    pytest.param("landlock", id="landlock", marks=pytest.mark.needs("landlock")),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=_ISOLATION)
async def intake(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Intake]:
    store = make_store(tmp_path_factory.mktemp("store"))
    executor = LocalExecutor(store.root, isolation=request.param)
    yield Intake(executor, store.root)
    await executor.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=_ISOLATION)
async def shelf(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Shelf]:
    store = make_store(tmp_path_factory.mktemp("store"))
    executor = LocalExecutor(store.root, isolation=request.param, standby=0, presealed=0)
    yield Shelf(executor, store.root)
    await executor.aclose()
