"""The official client against a server on a real port."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp.client import Client

from tests.server.talking import Served, served

MODES = ("2026-07-28", "legacy")
"""`legacy` negotiates 2025-11-25."""

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def connect(server: Served, mode: str) -> Connect:
    return lambda **given: connected(server, mode, **given)


@asynccontextmanager
async def connected(server: Served, mode: str, **given: Any) -> AsyncGenerator[Client, None]:
    async with Client(f"{server.url}/mcp", mode=mode, read_timeout_seconds=20, **given) as client:
        yield client
