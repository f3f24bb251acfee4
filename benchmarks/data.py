"""The data that is measured on: 50,000 rows of numbers, three times as many of sales, and one large Parquet file."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from sandtable.sandbox.job import DataRef, Job, Limits

_VERSION = "a" * 64
_LARGE_VERSION = "b" * 64
_SALES_VERSION = "c" * 64
_FEW_SALES_VERSION = "d" * 64
_COLUMNS = "x % 12 AS g, hash(x) % 1000 / 10.0 AS v, (hash(x + 1) % 500)::INTEGER AS k, x AS id"

_SALES = """
    x AS id, DATE '2024-01-01' + (hash(x) % 700)::INTEGER AS day,
    ['north', 'south', 'east', 'west', 'centre'][1 + (hash(x + 1) % 5)::INTEGER] AS region,
    'product ' || (hash(x + 2) % 120) AS product,
    ['web', 'shop', 'phone'][1 + (hash(x + 3) % 3)::INTEGER] AS channel,
    'customer-' || (hash(x + 4) % 9000) AS customer,
    (1 + hash(x + 5) % 9)::INTEGER AS quantity, hash(x + 6) % 10000 / 100.0 AS price,
    hash(x + 7) % 30 / 100.0 AS discount, quantity * price * (1 - discount) AS revenue
"""

SELECT_1 = "SELECT 1 AS one"
GROUP_BY = "SELECT g, count(*) AS n, sum(v) AS s, avg(v) AS a, count(DISTINCT k) AS d FROM orders GROUP BY g ORDER BY g"
LARGE_GROUP_BY = (
    "SELECT g, k, count(*) AS n, sum(v) AS s, max(id) AS m FROM orders GROUP BY g, k ORDER BY s DESC LIMIT 50"
)
QUERIES = {"select 1": SELECT_1, "GROUP BY 50k rows": GROUP_BY}
_ids = count()


@dataclass(frozen=True, slots=True)
class Data:
    root: Path

    @property
    def small(self) -> Path:
        return self.root / "versions" / _VERSION / "orders.parquet"

    @property
    def large(self) -> Path:
        return self.root / "versions" / _LARGE_VERSION / "orders.parquet"

    @property
    def sales(self) -> Path:
        """Ten columns, as a table of orders has them: keys, days, names, amounts."""
        return self.root / "versions" / _SALES_VERSION / "sales.parquet"

    @property
    def few_sales(self) -> Path:
        """A third of them."""
        return self.root / "versions" / _FEW_SALES_VERSION / "sales.parquet"

    def job(self, text: str, *, large: bool = False, threads: int = 1, **limits: Any) -> Job:
        return Job(
            id=f"bench-{next(_ids)}",
            mode="sql",
            dataset_version=f"sha256:{_LARGE_VERSION if large else _VERSION}",
            data=(DataRef(table="orders", path="orders.parquet"),),
            text=text,
            threads=threads,
            limits=Limits(**{"wall_ms": 60_000, **limits}),
        )


def make_data(root: Path, *, large_rows: int) -> Data:
    data = Data(root)
    root.chmod(0o755)
    for path in (data.small, data.large, data.sales, data.few_sales):
        path.parent.mkdir(parents=True)
    for name in ("incoming", "staging", "empty"):
        (root / name).mkdir()
    with duckdb.connect() as connection:
        for path, columns, rows in (
            (data.small, _COLUMNS, 50_000),
            (data.large, _COLUMNS, large_rows),
            (data.sales, _SALES, 150_000),
            (data.few_sales, _SALES, 50_000),
        ):
            connection.execute(
                f"COPY (SELECT {columns} FROM range({rows}) AS t(x)) TO '{path}' (FORMAT parquet)"
            )
    return data


def open_in_process(path: Path, threads: int) -> duckdb.DuckDBPyConnection:
    """The floor: a warm connection in this very process, no isolation at all."""
    connection = duckdb.connect(config={"threads": threads})
    connection.execute(f"CREATE VIEW orders AS SELECT * FROM read_parquet('{path}')")
    return connection
