"""The datasets that the product ships, as training domains: their own tables, and profiles of their own rows."""

from __future__ import annotations

import datetime as dt
import decimal
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb

from sandtable.catalog.model import Column, Dataset, Table
from sandtable.catalog.profile import MOST_VALUES, Cell, ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.catalog.registry import load_catalog
from sandtable.engines.duckdb.types import column_type

_DATASETS = Path(__file__).resolve().parents[2] / "datasets"


@lru_cache(maxsize=4)
def shipped(name: str) -> tuple[Dataset, Profile]:
    """The dataset and its profile; its rows are generated in some seconds and not kept."""
    dataset = load_catalog(_DATASETS, column_type).get(name)
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        made = [sys.executable, str(_DATASETS / "generate"), "--out", folder, "--only", name]
        subprocess.run(made, check=True, capture_output=True)
        for table in dataset.tables:
            types = ", ".join(f"'{c.name}': '{c.sql_type}'" for c in table.columns)
            connection.execute(
                f'CREATE TABLE "{table.name}" AS SELECT * FROM '
                f"read_csv('{Path(folder) / name / table.file}', header = true, columns = {{{types}}})"
            )
        tables = tuple(_table(connection, table) for table in dataset.tables)
    return dataset, Profile(version=dataset.version, tables=tables)


def _table(connection: duckdb.DuckDBPyConnection, table: Table) -> TableProfile:
    columns = tuple(_column(connection, table, column) for column in table.columns)
    return TableProfile(name=table.name, rows=table.rows, columns=columns)


def _column(connection: duckdb.DuckDBPyConnection, table: Table, column: Column) -> ColumnProfile:
    nulls, distinct, low, high = connection.execute(
        f'SELECT count(*) - count("{column.name}"), count(DISTINCT "{column.name}"), min("{column.name}"), '
        f'max("{column.name}") FROM "{table.name}"'
    ).fetchall()[0]
    listed = column.type.value != "float" or distinct <= MOST_VALUES
    counted = connection.execute(
        f'SELECT "{column.name}", count(*) AS n FROM "{table.name}" WHERE "{column.name}" IS NOT NULL '
        f"GROUP BY 1 ORDER BY n DESC, 1 LIMIT {MOST_VALUES}"
    ).fetchall()
    return ColumnProfile(
        name=column.name,
        nulls=nulls,
        distinct=distinct,
        minimum=_cell(low),
        maximum=_cell(high),
        values=tuple(ValueCount(value=_cell(value), count=n) for value, n in counted) if listed else (),
        complete=listed and distinct <= MOST_VALUES,
    )


def _cell(value: Any) -> Cell:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, dt.date | dt.time | decimal.Decimal):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
