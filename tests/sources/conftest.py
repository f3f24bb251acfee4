"""A PostgreSQL with a shop and some roles, and a home with everything that a command has."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import psycopg
import pytest

from sandtable.assemble import Parts, assemble
from sandtable.assemble.sources import sources_of
from sandtable.catalog.own.datasets import Added
from sandtable.sandbox.live import worker as live
from sandtable.settings import Settings
from sandtable.sources.address import read_address
from sandtable.sources.records import Source, source_of
from sandtable.sources.sources import Sources
from tests import postgres

SECRET = "geheim-1f0c77"
"""Of every role; it is looked for in all files and messages."""
SPEED = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=127.0.0.1")

SHOP = """
CREATE SCHEMA shop;
CREATE TABLE shop.customers (id int PRIMARY KEY, name text NOT NULL, city varchar(20));
INSERT INTO shop.customers
  SELECT i, 'Customer ' || i, (ARRAY[NULL, '', 'Berlin', 'Köln'])[1 + i % 4] FROM generate_series(1, 40) i;
CREATE TABLE shop.orders (
  no int PRIMARY KEY, buyer int NOT NULL REFERENCES shop.customers, amount numeric(10,2), ordered timestamptz);
INSERT INTO shop.orders
  SELECT i, 1 + i % 40, i % 100 + 0.5, '2024-01-01 00:30+02'::timestamptz + i * interval '1 hour'
  FROM generate_series(1, 1000) i;
"""


@dataclass(frozen=True, slots=True)
class Database:
    admin: str
    folder: Path
    port: int

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.admin, autocommit=True) as connection:
            cursor = connection.execute(statement)  # type: ignore[arg-type]  # statements of the tests
            return cursor.fetchall() if cursor.description else []

    def reader(self, name: str, schema: str) -> None:
        """A role that can only read this schema."""
        self.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'")
        self.execute(f"GRANT USAGE ON SCHEMA {schema} TO {name}")
        self.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}")

    def url(self, role: str, password: str = SECRET, options: str = "") -> str:
        """Over TCP."""
        return f"postgresql://{role}:{password}@127.0.0.1:{self.port}/postgres{options}"

    def path_url(self, role: str) -> str:
        """By its Unix socket."""
        folder = quote(str(self.folder), safe="")
        return f"postgresql://{role}:{SECRET}@/postgres?host={folder}&port={self.port}"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def started(speed: tuple[str, ...] = SPEED) -> Any:
    """A context with the address of a server's Unix socket, and its port."""
    port = free_port()
    return postgres.cluster((*speed, f"port={port}")), port


def database_of(address: str, port: int) -> Database:
    folder = Path(unquote(address.partition("host=")[2]))
    return Database(f"{address}&port={port}", folder, port)


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    cluster, port = started()
    with cluster as address:
        made = database_of(address, port)
        made.execute(SHOP)
        made.reader("reader", "shop")
        yield made


@dataclass(frozen=True, slots=True)
class Shop:
    """A home."""

    parts: Parts
    sources: Sources

    async def connect(self, url: str, name: str = "shop", **options: str) -> Source:
        given = {"only_schema": "", "password_env": "", "allowed_writer": "", **options}
        address = read_address(url)
        source = source_of(address, name, **given)
        await self.sources.connect(source, address.password)
        return source

    async def snapshot(self, *tables: str, name: str = "shop") -> Added:
        async with self.sources.copied(name, tables, lambda *_: None) as files:
            return await self.parts.datasets.add_own(files, dataset_id=name, title=name)

    @property
    def home(self) -> Path:
        return self.parts.settings.home

    def is_untouched(self) -> bool:
        """No dataset, no upload, no kept file, no version."""
        data = self.home / "data"
        left = [*(data / "uploads").iterdir(), *data.glob("sources/*"), *data.glob("versions/*")]
        return not self.parts.datasets.own.list() and not left


Opens = Callable[..., Awaitable[Shop]]


@pytest.fixture
async def opens(tmp_path: Path) -> AsyncIterator[Opens]:
    async with AsyncExitStack() as stack:

        async def open_shop(**settings: Any) -> Shop:
            made = Settings(home=tmp_path / "home", **settings)
            parts = await stack.enter_async_context(assemble(made))
            return Shop(parts, sources_of(parts))

        yield open_shop


@pytest.fixture
async def shop(opens: Opens) -> Shop:
    return await opens()


def caught_workers(monkeypatch: pytest.MonkeyPatch) -> list[live.LiveWorker]:
    """Every worker that is started from now on."""
    workers: list[live.LiveWorker] = []
    start = live.LiveWorker.start

    async def caught(*arguments: Any) -> live.LiveWorker:
        workers.append(await start(*arguments))
        return workers[-1]

    monkeypatch.setattr(live.LiveWorker, "start", caught)
    return workers
