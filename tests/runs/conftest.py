from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandtable.runs.desk import Runs
from tests.runs.world import World


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path)
    yield made
    await made.sessions.aclose()
    await made.executor.aclose()


@pytest.fixture
async def runs(world: World) -> AsyncIterator[Runs]:
    async with world.opened() as opened:
        yield opened
