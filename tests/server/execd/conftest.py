"""`tier`, and a `caller` of the service over it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.server.execd.house import Caller, FakeTier, make_app


@pytest.fixture
def tier() -> FakeTier:
    return FakeTier()


@pytest_asyncio.fixture
async def caller(tier: FakeTier, tmp_path: Path) -> AsyncIterator[Caller]:
    app = make_app(tier, tmp_path)
    caller = Caller(app)
    yield caller
    await app.state.execd.desk.aclose()
    await tier.aclose()
    await caller.client.aclose()
