"""An executor on the engine of this machine, with a small data store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandtable.sandbox.docker.executor import DockerExecutor
from tests.needs import RUNNER_IMAGE
from tests.sandbox.docker.engine import HOST
from tests.sandbox.stores import Store, make_store


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_store(tmp_path_factory.mktemp("store"))


@pytest_asyncio.fixture
async def executor(store: Store) -> AsyncIterator[DockerExecutor]:
    made = DockerExecutor(store.root, image=RUNNER_IMAGE, host=HOST, warm=1, parallel=4)
    yield made
    await made.aclose()
