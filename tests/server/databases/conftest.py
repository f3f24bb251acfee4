"""A PostgreSQL with a shop, and a server with everything that a real one has, called in-process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from httpx import ASGITransport, AsyncClient

from sandtable.assemble import Parts, assemble
from sandtable.server.app import create_app
from sandtable.settings import Settings
from tests.server.house import THIS_MACHINE
from tests.sources.conftest import SECRET, SHOP, Database, database_of, started

BIG = """
CREATE TABLE shop.big AS SELECT i, md5(i::text) AS text FROM generate_series(1, 3000000) i;
GRANT SELECT ON shop.big TO reader;
"""


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    cluster, port = started()
    with cluster as address:
        made = database_of(address, port)
        made.execute(SHOP)
        made.reader("reader", "shop")
        made.execute(f"CREATE ROLE writer LOGIN PASSWORD '{SECRET}'")
        made.execute("GRANT USAGE ON SCHEMA shop TO writer")
        made.execute("GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA shop TO writer")
        yield made


@dataclass(frozen=True, slots=True)
class Serving:
    parts: Parts
    app: Any
    stack: AsyncExitStack

    @property
    def home(self) -> Path:
        return self.parts.settings.home

    async def client(self, peer: str = "127.0.0.1", **headers: str) -> AsyncClient:
        transport = ASGITransport(self.app, client=(peer, 4242))
        client = AsyncClient(transport=transport, base_url="http://localhost", headers=headers, timeout=120)
        return await self.stack.enter_async_context(client)

    async def person(self, name: str, group: str = "") -> AsyncClient:
        """As a trusted proxy names one."""
        return await self.client(**{"X-Sandtable-User": name, "X-Sandtable-Groups": group})


Opens = Callable[..., Awaitable[Serving]]


@pytest_asyncio.fixture
async def opens(tmp_path: Path) -> AsyncIterator[Opens]:
    async with AsyncExitStack() as stack:

        async def open_server(**given: Any) -> Serving:
            settings = Settings(home=tmp_path / "home", web=tmp_path / "not-built", **given)
            parts = await stack.enter_async_context(assemble(settings, serving=True))
            return Serving(parts, create_app(parts), stack)

        yield open_server


@pytest_asyncio.fixture
async def people(opens: Opens) -> Serving:
    """Who signed in is what a proxy says; every user may connect the databases of this machine."""
    return await opens(
        trusted_proxies=THIS_MACHINE,
        groups_header="X-Sandtable-Groups",
        admin_groups=("operators",),
        database_hosts=("127.0.0.1",),
    )


def body(database: Database, role: str = "reader", **more: Any) -> dict[str, Any]:
    url = f"postgresql://{role}@127.0.0.1:{database.port}/postgres"
    return {"url": url, "name": "shop", "password": SECRET, **more}
