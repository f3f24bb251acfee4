"""A server with accounts: `ada` is an administrator, `bob` is not, and each has a browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest_asyncio
from httpx import ASGITransport, AsyncClient, Response

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.passwords import Passwords
from sandtable.accounts.schema import FILE, MIGRATIONS
from sandtable.server.app import create_app
from sandtable.settings import Settings
from sandtable.store.sqlite.file import SqliteFile
from tests.accounts.conftest import CHEAP, LIFETIME, Clock
from tests.server.house import House, open_house

PASSWORD = "correct horse battery"
LAN = "192.168.1.9"
OWN = {"Sec-Fetch-Site": "same-origin", "X-Sandtable-CSRF": "1"}
"""What the web interface's requests have."""


@asynccontextmanager
async def opened_accounts(home: Path, clock: Clock | None = None) -> AsyncIterator[Accounts]:
    tables = SqliteFile(home / FILE, MIGRATIONS, synchronous="FULL")
    accounts = Accounts(tables, LIFETIME, Passwords(CHEAP), clock or Clock())
    await accounts.open()
    try:
        for name in ("ada", "bob"):
            hashed = await accounts.passwords.hash(PASSWORD)
            await accounts.people.add(name, accounts.now(), password=hashed, is_admin=name == "ada")
        yield accounts
    finally:
        await accounts.aclose()


@dataclass
class Guarded:
    house: House
    accounts: Accounts
    clock: Clock
    app: Any

    def client(self, peer: str = LAN, **headers: str) -> AsyncClient:
        """A program, or a browser that has not signed in."""
        transport = ASGITransport(self.app, client=(peer, 1234))
        return AsyncClient(transport=transport, base_url="http://localhost", headers=headers)

    async def browser(self, name: str, peer: str = LAN) -> AsyncClient:
        """One that has signed in, and sends what the web interface sends."""
        async with self.client(peer, **OWN) as first:
            answer = await sign_in(first, name)
        assert answer.status_code == 200, answer.text
        client = self.client(peer, **OWN)
        client.cookies.update(first.cookies)
        return client

    async def key(self, name: str, *scopes: str) -> AsyncClient:
        _, token = await self.accounts.keys.add(name, "test", scopes, self.accounts.now())
        return self.client(Authorization=f"Bearer {token}")


async def sign_in(client: AsyncClient, name: str, password: str = PASSWORD) -> Response:
    return await client.post("/login", json={"name": name, "password": password})


@asynccontextmanager
async def guarded_by(home: Path, **given: Any) -> AsyncIterator[Guarded]:
    clock = Clock()
    settings = Settings(home=home, web=home / "not-built", accounts="on", **given)
    async with opened_accounts(home, clock) as accounts, open_house(home, settings) as house:
        app = create_app(house, accounts=accounts)  # pyright: ignore[reportArgumentType] - a double of Parts
        yield Guarded(house, accounts, clock, app)


@pytest_asyncio.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with guarded_by(tmp_path) as server:
        yield server
