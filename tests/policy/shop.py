"""The dataset these tests judge queries about, and the same tables in a real engine."""

from __future__ import annotations

from typing import Any

import duckdb

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.engines.duckdb.rules import RULES
from sandtable.policy.gate import judge
from sandtable.policy.pregate import pregate
from sandtable.policy.verdict import Verdict
from sandtable_runner.parse import parse, prepare

_TABLES: dict[str, tuple[int, str]] = {
    "orders": (
        600,
        """
        SELECT i AS order_id, 1 + i * 7 % 83 AS customer_id,
               DATE '2024-01-01' + CAST(i * 5 % 366 AS INTEGER) AS order_date,
               TIMESTAMP '2024-01-01 00:00:00' + to_hours(CAST(i * 13 % 8760 AS INTEGER)) AS ordered_at,
               ['web', 'store', 'phone'][1 + i % 3] AS channel,
               ['north', 'south', 'east', 'west'][1 + i * 3 % 4] AS region,
               ['paid', 'shipped', 'returned', 'cancelled'][1 + i * 11 % 4] AS status,
               CAST(i * 37 % 991 + 0.5 AS DOUBLE) / 3 AS amount,
               CAST(i % 7 * 0.05 AS DECIMAL(4, 2)) AS discount,
               i % 9 = 0 AS is_gift,
               CASE WHEN i % 5 = 0 THEN NULL ELSE 'SAVE' || i % 4 END AS coupon
        FROM range(1, 601) AS r(i)
        """,
    ),
    "order_items": (
        1200,
        """
        SELECT i AS item_id, 1 + i // 2 AS order_id, 1 + i * 17 % 41 AS product_id,
               ['toys', 'books', 'garden', 'kitchen', 'sport'][1 + i % 5] AS category,
               'product ' || i * 17 % 41 AS product, 1 + i % 6 AS quantity,
               CAST(5 + i * 29 % 97 AS DECIMAL(10, 2)) AS unit_price,
               CAST(i * 31 % 77 AS DOUBLE) / 7 AS weight, i % 13 = 0 AS returned
        FROM range(0, 1200) AS r(i)
        """,
    ),
    "inventory": (
        41,
        """
        SELECT i AS product_id, 'product ' || i AS product, 10 + i * 7 % 50 AS stock, 15 AS reorder_level,
               CAST(1 + i * 3 % 20 AS DECIMAL(10, 2)) AS cost, ['A', 'B', 'C'][1 + i % 3] AS warehouse
        FROM range(0, 41) AS r(i)
        """,
    ),
    "tickets": (
        500,
        """
        SELECT i AS ticket_id,
               TIMESTAMP '2024-03-01 08:00:00' + to_minutes(CAST(i * 97 AS INTEGER)) AS opened_at,
               CASE WHEN i % 8 = 0 THEN NULL
                    ELSE TIMESTAMP '2024-03-01 08:00:00' + to_minutes(CAST(i * 97 + i * 53 % 4000 AS INTEGER))
               END AS closed_at,
               ['low', 'normal', 'high', 'urgent'][1 + i % 4] AS priority,
               ['emea', 'amer', 'apac'][1 + i * 5 % 3] AS region, 'agent ' || i % 11 AS agent,
               CASE WHEN i % 3 = 0 THEN NULL ELSE 1 + i * 7 % 5 END AS csat, 60 * (1 + i % 4) AS sla_minutes,
               'Ticket about ' || ['billing', 'login', 'shipping'][1 + i % 3] AS subject,
               ['tag' || i % 4, 'tag' || i % 6] AS tags,
               '{"source": "' || ['mail', 'chat'][1 + i % 2] || '", "hops": ' || i % 5 || '}' AS meta
        FROM range(1, 501) AS r(i)
        """,
    ),
    "readings": (
        900,
        """
        SELECT i AS reading_id, 'device ' || i % 9 AS device, ['lab', 'roof', 'yard'][1 + i % 3] AS site,
               TIMESTAMP '2024-06-01 00:00:00' + to_minutes(CAST(i * 10 AS INTEGER)) AS ts,
               20 + sin(i / 50.0) * 5 + CASE WHEN i % 211 = 0 THEN 30 ELSE 0 END AS temperature,
               CAST(40 + i % 30 AS FLOAT) AS humidity, i % 17 AS faults, 3.3 - i % 10 * 0.01 AS voltage
        FROM range(0, 900) AS r(i)
        """,
    ),
}

_LOGICAL = {
    "DOUBLE": ColumnType.FLOAT,
    "FLOAT": ColumnType.FLOAT,
    "BIGINT": ColumnType.INTEGER,
    "INTEGER": ColumnType.INTEGER,
    "VARCHAR": ColumnType.TEXT,
    "BOOLEAN": ColumnType.BOOLEAN,
    "DATE": ColumnType.DATE,
    "TIMESTAMP": ColumnType.TIMESTAMP,
}


def connect() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
    con.execute("SET TimeZone = 'UTC'")
    for name, (_, sql) in _TABLES.items():
        con.execute(f"CREATE TABLE {name} AS {sql}")
    return con


ENGINE = connect()
PARSER = duckdb.connect(config={"threads": 1})
prepare(PARSER)


def _table(name: str, rows: int) -> Table:
    described = ENGINE.execute(f"DESCRIBE {name}").fetchall()
    columns = tuple(
        Column(name=row[0], type=_LOGICAL.get(row[1], ColumnType.OTHER), sql_type=row[1]) for row in described
    )
    return Table(name=name, file=f"{name}.csv", sha256="0" * 64, rows=rows, columns=columns)


SHOP = Dataset(
    id="shop",
    tables=tuple(_table(name, rows) for name, (rows, _) in _TABLES.items()),
    version="sha256:" + "0" * 64,
)
FLOATS = [c.name for t in SHOP.tables for c in t.columns if c.type is ColumnType.FLOAT]


def parsed(sql: str) -> dict[str, Any]:
    return parse(PARSER, sql, FLOATS)


def verdict(sql: str, max_bytes: int = 64 << 10) -> Verdict:
    """What the whole gate says: first look, parse, judgement."""
    return pregate(sql, max_bytes) or judge(sql, parsed(sql), SHOP, RULES)
