"""What the planner's tests stand on: datasets with their data in DuckDB, profiles, and a way to run plans."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb

from sandtable.catalog.model import Column, Dataset, Table
from sandtable.catalog.profile import MOST_VALUES, Cell, ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.engines.duckdb.types import column_type
from sandtable.plan.validate import parse_plan
from sandtable.planner.schema.index import SchemaIndex
from sandtable.sql.compile import compile_plan


@dataclass(frozen=True)
class World:
    """A dataset, its rows and its index."""

    dataset: Dataset
    connection: duckdb.DuckDBPyConnection
    index: SchemaIndex

    def run_sql(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(_plain(cell) for cell in row) for row in self.connection.execute(sql).fetchall()]

    def run_plan(self, plan: dict[str, Any]) -> list[tuple[Any, ...]]:
        return self.run_sql(compile_plan(parse_plan(plan), self.dataset, max_rows=10_000).sql)


def load_world(dataset: Dataset, folder: Path) -> World:
    """A dataset of the registry over its CSV files."""
    connection = duckdb.connect()
    for table in dataset.tables:
        types = ", ".join(f"'{c.name}': '{c.sql_type}'" for c in table.columns)
        connection.execute(
            f'CREATE TABLE "{table.name}" AS SELECT * FROM '
            f"read_csv('{folder / table.file}', header = true, columns = {{{types}}})"
        )
    return World(dataset, connection, SchemaIndex.build(dataset, profile(dataset, connection)))


def csv_world(name: str, path: Path) -> World:
    """One CSV file, as somebody might upload it: types found by looking, no descriptions, no time column."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE \"{name}\" AS SELECT * FROM read_csv('{path}', header = true)")
    described = connection.execute(f'DESCRIBE "{name}"').fetchall()
    columns = tuple(Column(name=r[0], type=column_type(r[1]), sql_type=r[1]) for r in described)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    rows = connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0]
    table = Table(name=name, file=path.name, sha256=digest, rows=rows, columns=columns)
    dataset = Dataset(id=name, tables=(table,), version=f"sha256:{digest}")
    return World(dataset, connection, SchemaIndex.build(dataset, profile(dataset, connection)))


def profile(dataset: Dataset, connection: duckdb.DuckDBPyConnection) -> Profile:
    return Profile(
        version=dataset.version,
        tables=tuple(
            TableProfile(
                name=t.name,
                rows=connection.execute(f'SELECT count(*) FROM "{t.name}"').fetchall()[0][0],
                columns=tuple(_column_profile(connection, t.name, c) for c in t.columns),
            )
            for t in dataset.tables
        ),
    )


def _column_profile(connection: duckdb.DuckDBPyConnection, table: str, column: Column) -> ColumnProfile:
    name = '"' + column.name.replace('"', '""') + '"'
    nulls, distinct, low, high = connection.execute(
        f'SELECT count(*) - count({name}), count(DISTINCT {name}), min({name}), max({name}) FROM "{table}"'
    ).fetchall()[0]
    counted = connection.execute(
        f'SELECT {name}, count(*) AS n FROM "{table}" WHERE {name} IS NOT NULL '
        f"GROUP BY 1 ORDER BY n DESC, 1 LIMIT {MOST_VALUES}"
    ).fetchall()
    keep = column.type.value != "float" or distinct <= MOST_VALUES
    return ColumnProfile(
        name=column.name,
        nulls=nulls,
        distinct=distinct,
        minimum=_cell(low),
        maximum=_cell(high),
        values=tuple(ValueCount(value=_cell(v), count=n) for v, n in counted) if keep else (),
        complete=keep and distinct <= MOST_VALUES,
    )


def _cell(value: Any) -> Cell:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, dt.date | dt.time | decimal.Decimal):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, bool):
        return value
    if isinstance(value, decimal.Decimal | float | int):
        number = float(value)
        return number if math.isnan(number) else float(f"{number:.9g}")
    return value


def same_answer(got: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]], *, ordered: bool = False) -> bool:
    """Whether every wanted row is there, in order if asked; further columns beside the wanted are no harm.

    The first wanted column must be the first column of the answer: the asked thing comes first.
    """
    if len(got) != len(wanted):
        return False
    if not wanted:
        return True
    for columns in _choices(got, wanted):
        picked = [tuple(row[c] for c in columns) for row in got]
        if picked == wanted if ordered else _sorted(picked) == _sorted(wanted):
            return True
    return False


def _choices(got: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> list[tuple[int, ...]]:
    width, need = len(got[0]), len(wanted[0])
    if need > width:
        return []
    fits = [
        [c for c in range(width) if _sorted([(r[c],) for r in got]) == _sorted([(r[w],) for r in wanted])]
        for w in range(need)
    ]
    chosen: list[tuple[int, ...]] = [()]
    for options in fits:
        chosen = [(*done, c) for done in chosen for c in options if c not in done][:200]
    return chosen


def _sorted(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


@lru_cache(maxsize=1)
def registry_path() -> Path:
    return Path(__file__).resolve().parents[2] / "datasets" / "registry.json"
