"""The application over a scripted house, and a client that calls it in-process."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from httpx import ASGITransport, AsyncClient

from sandtable.server.app import create_app
from tests.own_logs import LogLines, logged
from tests.server.house import House, open_house


@pytest.fixture(autouse=True)
def log_lines() -> Iterator[LogLines]:
    """What was logged so far."""
    with logged() as lines:
        yield lines


@pytest.fixture(autouse=True)
def streams_may_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The streams of MCP and A2A end at once in a process in which any server was told to stop before."""
    library = sys.modules.get("sse_starlette.sse")
    if library is not None:
        monkeypatch.setattr(library.AppStatus, "should_exit", False)


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as house:
        yield house


@pytest_asyncio.fixture
async def client(house: House) -> AsyncIterator[AsyncClient]:
    transport = ASGITransport(create_app(house))  # pyright: ignore[reportArgumentType] - a double of Parts
    async with AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client
