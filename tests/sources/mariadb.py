"""A shop in a MariaDB, as `conftest.Database` is one in a PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests import mariadb
from tests.sources.conftest import SECRET

SHOP = """
CREATE DATABASE shop;
USE shop;
CREATE TABLE shop.customers (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(20));
INSERT INTO shop.customers
  SELECT seq, CONCAT('Customer ', seq), ELT(1 + seq % 4, NULL, '', 'Berlin', 'Köln') FROM seq_1_to_40;
CREATE TABLE shop.orders (
  no INT PRIMARY KEY, buyer INT NOT NULL, amount DECIMAL(10,2), ordered TIMESTAMP NULL,
  FOREIGN KEY (buyer) REFERENCES shop.customers (id));
INSERT INTO shop.orders
  SELECT seq, 1 + seq % 40, seq % 100 + 0.5, '2024-01-01 00:30' + INTERVAL seq HOUR FROM seq_1_to_1000
"""


@dataclass(frozen=True, slots=True)
class MariaDatabase:
    server: mariadb.Server

    def execute(self, statements: str, mode: str = "") -> list[tuple[Any, ...]]:
        """Statements with a `;` between them; the rows of the last one."""
        rows: list[tuple[Any, ...]] = []
        with self.server.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"SET sql_mode = '{mode}', time_zone = '+00:00'")
            for statement in statements.split(";\n"):
                cursor.execute(statement)
                rows = list(cursor.fetchall())
        return rows

    def schema(self, name: str, statements: str, mode: str = "") -> str:
        """A schema with a user of the same name that can only read it; returns its address."""
        self.execute(f"CREATE DATABASE {name};\nUSE {name};\n{statements}", mode)
        self.reader(name, name)
        return self.url(name, schema=name)

    def reader(self, name: str, schema: str) -> None:
        self.execute(f"CREATE USER {name}@'%' IDENTIFIED BY '{SECRET}'")
        self.execute(f"GRANT SELECT ON {schema}.* TO {name}@'%'")

    def url(self, user: str, password: str = SECRET, options: str = "", schema: str = "shop") -> str:
        """Over TCP."""
        return f"mysql://{user}:{password}@127.0.0.1:{self.server.port}/{quote(schema, safe='')}{options}"

    def path_url(self, user: str) -> str:
        """By its Unix socket."""
        path = quote(str(self.server.socket), safe="")
        return f"mariadb://{user}:{SECRET}@/shop?socket={path}"


@contextmanager
def shop_server(options: tuple[str, ...] = ("skip-ssl",)) -> Iterator[MariaDatabase]:
    with mariadb.server(options) as server:
        database = MariaDatabase(server)
        database.execute(SHOP)
        database.reader("reader", "shop")
        yield database
