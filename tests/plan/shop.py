"""A small shop: the catalog and the rows that plan and compiler tests run on."""

from __future__ import annotations

import duckdb

from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Relationship, Table
from sandtable_runner import engine

_TYPES = {
    "VARCHAR": ColumnType.TEXT,
    "INTEGER": ColumnType.INTEGER,
    "DECIMAL(10,2)": ColumnType.DECIMAL,
    "DOUBLE": ColumnType.FLOAT,
    "BOOLEAN": ColumnType.BOOLEAN,
    "DATE": ColumnType.DATE,
    "TIMESTAMP": ColumnType.TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": ColumnType.TIMESTAMP,
    "TIME": ColumnType.TIME,
    "UUID": ColumnType.OTHER,
    "VARCHAR[]": ColumnType.OTHER,
}

_TABLES: dict[str, tuple[str | None, dict[str, str]]] = {
    "orders": (
        "ordered_at",
        {
            "order_id": "INTEGER", "ordered_at": "TIMESTAMP", "due_on": "DATE", "region": "VARCHAR",
            "channel": "VARCHAR", "status": "VARCHAR", "shipping": "DECIMAL(10,2)", "ship_to": "VARCHAR",
            "bill_to": "VARCHAR",
        },
    ),
    "order_items": (
        None,
        {
            "item_id": "INTEGER", "order_id": "INTEGER", "product_id": "INTEGER", "category": "VARCHAR",
            "quantity": "INTEGER", "unit_price": "DECIMAL(10,2)", "discount": "DOUBLE", "returned": "BOOLEAN",
            "note": "VARCHAR",
        },
    ),
    "products": (
        None,
        {
            "product_id": "INTEGER", "name": "VARCHAR", "supplier_id": "INTEGER", "stock": "INTEGER",
            "code": "UUID",
        },
    ),
    "suppliers": (None, {"supplier_id": "INTEGER", "country": "VARCHAR"}),
    "articles": (None, {"article_id": "INTEGER", "tags": "VARCHAR", "labels": "VARCHAR[]"}),
    "places": (None, {"place_id": "VARCHAR", "city": "VARCHAR"}),
    "visits": (
        "at",
        {
            "at": "TIMESTAMP WITH TIME ZONE", "opens": "TIME", "Order Total": "DECIMAL(10,2)",
            'odd"name': "VARCHAR",
        },
    ),
}  # fmt: skip

_RETURNED = [{"column": "returned", "op": "=", "value": True}]

SHOP = Dataset(
    id="shop",
    title="Shop",
    tables=tuple(
        Table(
            name=name,
            file=f"{name}.csv",
            sha256="0" * 64,
            time_column=time_column,
            columns=tuple(Column(name=c, type=_TYPES[t], sql_type=t) for c, t in columns.items()),
        )
        for name, (time_column, columns) in _TABLES.items()
    ),
    relationships=(
        Relationship(
            many_table="order_items", many_column="order_id", one_table="orders", one_column="order_id"
        ),
        Relationship(
            many_table="order_items", many_column="product_id", one_table="products", one_column="product_id"
        ),
        Relationship(
            many_table="products", many_column="supplier_id", one_table="suppliers", one_column="supplier_id"
        ),
        Relationship(many_table="orders", many_column="ship_to", one_table="places", one_column="place_id"),
        Relationship(many_table="orders", many_column="bill_to", one_table="places", one_column="place_id"),
    ),
    metrics=(
        Metric(
            name="return_rate",
            table="order_items",
            numerator={"agg": "count", "where": _RETURNED},
            denominator={"agg": "count"},
            format="percent",
        ),
        Metric(
            name="revenue",
            table="order_items",
            numerator={
                "agg": "sum",
                "of": {"op": "*", "left": {"column": "quantity"}, "right": {"column": "unit_price"}},
            },
            format="currency",
        ),
        Metric(
            name="shipping_cost",
            table="orders",
            numerator={"agg": "avg", "column": "shipping"},
            format="currency",
        ),
    ),
    as_of="2024-06-30",
    version="sha256:" + "0" * 64,
)

_ROWS = {
    "orders": [
        "(1, '2024-01-15 09:30:00', '2024-01-20', 'North', 'web', 'paid', 5.00, 'p1', 'p1')",
        "(2, '2024-02-03 14:00:00', '2024-02-08', 'South', 'web', 'paid', 7.50, 'p2', 'p2')",
        "(3, '2024-02-28 23:59:59', '2024-03-05', 'North', 'shop', 'cancelled', 0.00, 'p1', 'p2')",
        "(4, '2024-05-31 08:15:00', '2024-06-03', 'East', 'web', 'paid', 4.25, 'p3', 'p3')",
        "(5, '2024-06-01 00:00:00', '2024-06-06', 'South', 'phone', 'paid', 6.00, 'p2', 'p2')",
        "(6, '2024-06-25 17:45:00', '2024-06-30', 'North', 'web', 'open', 5.00, 'p1', 'p1')",
        "(7, '2024-06-30 12:00:00', '2024-07-04', NULL, 'shop', 'open', NULL, NULL, NULL)",
    ],
    "order_items": [
        "(1, 1, 10, 'Books', 2, 12.50, 0.0, false, 'gift wrap')",
        "(2, 1, 11, 'Toys', 1, 30.00, 0.1, true, '100% wool_blend')",
        "(3, 2, 10, 'Books', 1, 12.50, 0.0, false, NULL)",
        "(4, 2, 12, 'Garden', 3, 20.00, 0.2, true, 'back\\slash')",
        "(5, 3, 11, 'Toys', 2, 30.00, NULL, false, 'it''s fragile')",
        "(6, 4, 12, 'Garden', 1, 20.00, 0.25, false, 'GIFT')",
        "(7, 5, 13, 'Toys', 4, 5.00, 0.5, true, '')",
        "(8, 6, 10, 'Books', 5, 12.00, 0.05, false, 'line' || chr(10) || 'break')",
        "(9, 6, 13, 'Toys', 10, 4.50, 0.0, false, 'nul' || chr(0) || 'l')",
        "(10, 7, 99, NULL, 1, 1.00, 0.0, NULL, 'übergröße 🎁')",
    ],
    "products": [
        "(10, 'Atlas', 1, 40, '00000000-0000-0000-0000-000000000010')",
        "(11, 'Robot', 2, 0, '00000000-0000-0000-0000-000000000011')",
        "(12, 'Spade', 1, 15, '00000000-0000-0000-0000-000000000012')",
        "(13, 'Blocks', NULL, 200, NULL)",
    ],
    "suppliers": ["(1, 'Portugal')", "(2, 'Japan')"],
    "articles": [
        "(1, 'red, Green ,blue', ['red', 'green'])",
        "(2, 'green', [])",
        "(3, '', ['red'])",
        "(4, NULL, NULL)",
        "(5, 'blue;red|red', ['blue', 'red', 'red'])",
    ],
    "places": ["('p1', 'Porto')", "('p2', 'Lyon')", "('p3', 'Graz')"],
    "visits": [
        "('2024-06-30 23:30:00+00', '09:00:00', 10.00, 'a')",
        "('2024-06-30 23:30:00-02', '10:30:00', 20.00, 'b')",
    ],
}


def connect(rows: bool = True) -> duckdb.DuckDBPyConnection:
    """An in-memory database that holds the shop."""
    connection = engine.connect()
    create_tables(connection, SHOP)
    if rows:
        for table, values in _ROWS.items():
            connection.execute(f"INSERT INTO {table} VALUES {', '.join(values)}")
    return connection


def create_tables(connection: duckdb.DuckDBPyConnection, dataset: Dataset) -> None:
    """Empty tables with the dataset's names and types."""
    for table in dataset.tables:
        columns = ", ".join(f"{quoted(c.name)} {c.sql_type}" for c in table.columns)
        connection.execute(f"CREATE TABLE {quoted(table.name)} ({columns})")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
