"""Small tables with questions, each with the one plan that answers it."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import Cell, ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.planner.schema.index import SchemaIndex

_SQL_TYPES = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.FLOAT: "DOUBLE",
    ColumnType.DECIMAL: "DECIMAL(18,2)",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
}
T, N, F, D = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.FLOAT, ColumnType.DATE


def index_of(name: str, columns: dict[str, ColumnType], rows: list[tuple[Cell, ...]]) -> SchemaIndex:
    """A dataset of one table, with the profile that its rows have."""
    table = Table(
        name=name,
        file=f"{name}.csv",
        sha256="0" * 64,
        rows=len(rows),
        columns=tuple(Column(name=n, type=t, sql_type=_SQL_TYPES[t]) for n, t in columns.items()),
    )
    dataset = Dataset(id=f"{name}_set", tables=(table,), version="sha256:" + "0" * 64)
    profiles = tuple(_profile(n, [row[at] for row in rows]) for at, n in enumerate(columns))
    tables = (TableProfile(name=name, rows=len(rows), columns=profiles),)
    return SchemaIndex.build(dataset, Profile(version=dataset.version, tables=tables))


def _profile(name: str, cells: list[Cell]) -> ColumnProfile:
    counts: dict[Cell, int] = {}
    for cell in cells:
        if cell is not None:
            counts[cell] = counts.get(cell, 0) + 1
    values = tuple(ValueCount(value=v, count=c) for v, c in counts.items())
    numbers = [cell for cell in counts if isinstance(cell, int | float)]
    return ColumnProfile(
        name=name,
        nulls=len(cells) - sum(counts.values()),
        distinct=len(counts),
        minimum=min(numbers, default=None),
        maximum=max(numbers, default=None),
        values=values,
        complete=True,
    )


STAFF = index_of(
    "staff",
    {"name": T, "job_title": T, "department": T, "salary": N, "hire_year": N, "city": T},
    [
        ("Maria Lopez", "Engineer", "Research", 72000, 2015, "Madrid"),
        ("John Smith", "Accountant", "Finance", 51000, 2018, "London"),
        ("Aiko Tanaka", "Engineer", "Research", 80500, 2012, "Tokyo"),
        ("Peter Brown", "Sales Rep", "Sales", 43000, 2020, "London"),
        ("Chloe Martin", "Manager", "Finance", 95000, 2010, "Paris"),
    ],
)
LAKES = index_of(
    "lakes",
    {"Lake": T, "Country": T, "Area (km2)": N, "Max depth (m)": N, "Outflow": T},
    [
        ("Superior", "Canada", 82100, 406, "St. Marys River"),
        ("Victoria", "Tanzania", 68870, 84, "White Nile"),
        ("Baikal", "Russia", 31722, 1642, "Angara"),
        ("Geneva", "Switzerland", 580, 310, "Rhône"),
        ("Ontario", "Canada", 18960, 244, "St. Lawrence River"),
    ],
)
ORDERS = index_of(
    "orders",
    {
        "Order ID": N, "Customer": T, "Country": T, "Product": T, "Category": T, "Units": N, "Unit Price": F,
        "Order Date": D,
    },
    [
        (1, "Acme Ltd", "Germany", "Desk Lamp", "Lighting", 4, 19.5, "2024-01-03"),
        (2, "Globex", "France", "Office Chair", "Furniture", 1, 149.0, "2024-01-09"),
        (3, "Initech", "Germany", "Notebook", "Stationery", 20, 2.2, "2024-02-11"),
        (4, "Umbrella", "Spain", "Desk Lamp", "Lighting", 7, 19.5, "2024-02-15"),
        (5, "Acme Ltd", "Germany", "Standing Desk", "Furniture", 2, 399.0, "2024-03-01"),
    ],
)  # fmt: skip
INDEXES = {"staff": STAFF, "lakes": LAKES, "orders": ORDERS}


def eq(column: str, value: Cell) -> dict[str, Any]:
    return {"column": column, "op": "=", "value": value}


def cmp(column: str, op: str, value: Cell) -> dict[str, Any]:
    return {"column": column, "op": op, "value": value}


def col(column: str) -> dict[str, Any]:
    return {"column": column}


def agg(name: str, column: str) -> dict[str, Any]:
    return {"agg": name, "column": column}
