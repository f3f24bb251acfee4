"""The application over a scripted house, and a client that calls it in-process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from httpx import ASGITransport, AsyncClient

from sandtable.server.app import create_app
from tests.server.house import House, open_house


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as house:
        yield house


@pytest_asyncio.fixture
async def client(house: House) -> AsyncIterator[AsyncClient]:
    transport = ASGITransport(create_app(house))  # pyright: ignore[reportArgumentType] - a double of Parts
    async with AsyncClient(transport=transport, base_url="http://sandtable.test") as client:
        yield client
