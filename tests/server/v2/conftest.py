"""A server with a scripted conversation, for each test its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from sandtable.settings import Settings
from tests.server.house import THIS_MACHINE
from tests.server.talking import Served, served


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


@pytest_asyncio.fixture
async def behind_proxy(tmp_path: Path) -> AsyncIterator[Served]:
    """The test stands for a proxy that is trusted."""
    settings = Settings(home=tmp_path, allowed_hosts=("data.example",), trusted_proxies=THIS_MACHINE)
    async with served(tmp_path, settings) as server:
        yield server
