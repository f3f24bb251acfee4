"""The same rows in DuckDB and in a PostgreSQL: what a plan answers on both."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb
import psycopg

from sandtable.catalog.live import LiveDatabase, RemoteColumn, RemoteTable
from sandtable.catalog.model import Column, Dataset, Table
from sandtable.engines.duckdb.types import column_type
from sandtable.engines.postgres.types import PostgresType, live_landing_of
from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from sandtable.sql.remote import RemoteQuery, compile_remote
from tests.plan.shop import quoted

Rows = list[tuple[Any, ...]]
TOLERANCE = 1e-9

_PG_TYPES = {
    "TINYINT": "int2", "SMALLINT": "int2", "INTEGER": "int4", "BIGINT": "int8", "DOUBLE": "float8", "FLOAT": "float4",
    "BOOLEAN": "bool", "VARCHAR": "text", "DATE": "date", "TIMESTAMP": "timestamp", "TIME": "time",
    "TIMESTAMP WITH TIME ZONE": "timestamptz", "UUID": "uuid", "VARCHAR[]": "text[]",
}  # fmt: skip


def postgres_type(sql_type: str) -> PostgresType:
    """The type in which a database holds what DuckDB has as this."""
    if sql_type.startswith("DECIMAL("):
        width, scale = map(int, sql_type.removeprefix("DECIMAL(").rstrip(")").split(","))
        return PostgresType("numeric", f"numeric({width},{scale})", (width << 16 | scale) + 4)
    name = _PG_TYPES[sql_type]
    return PostgresType(name, name, category="A" if name.endswith("[]") else "")


def landed(dataset: Dataset, schema: str) -> tuple[Dataset, LiveDatabase]:
    """The dataset as it is when its tables lie in a database."""
    tables: list[Table] = []
    there: list[RemoteTable] = []
    for table in dataset.tables:
        columns: list[Column] = []
        remote: list[RemoteColumn] = []
        for column in table.columns:
            type_ = postgres_type(column.sql_type)
            landing = live_landing_of(type_)
            new = {"sql_type": landing.sql_type, "type": column_type(landing.sql_type)}
            columns.append(column.model_copy(update=new))
            remote.append(RemoteColumn(column.name, column.name, type_.shown, landing.read))
        tables.append(table.model_copy(update={"columns": tuple(columns)}))
        there.append(RemoteTable(table.name, schema, table.name, tuple(remote)))
    made = dataset.model_copy(update={"tables": tuple(tables)})
    return made, LiveDatabase("postgresql", "source", tuple(there))


@dataclass(frozen=True, slots=True)
class Twin:
    dataset: Dataset
    database: LiveDatabase
    duck: duckdb.DuckDBPyConnection
    postgres: psycopg.Connection[Any]

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        source: duckdb.DuckDBPyConnection,
        postgres: psycopg.Connection[Any],
        schema: str,
        rows: int | None = None,
    ) -> Twin:
        """A copy of the tables of `source`, or of their first rows, in each of both, with the types that they have when
        they are live."""
        made, database = landed(dataset, schema)
        duck = duckdb.connect()
        postgres.execute(f"CREATE SCHEMA {quoted(schema)}")  # type: ignore[arg-type]  # a statement of the tests
        for before, table in zip(dataset.tables, made.tables, strict=True):
            columns = [(c.name, postgres_type(c.sql_type).shown) for c in before.columns]
            declared = ", ".join(f"{quoted(name)} {shown}" for name, shown in columns)
            name = f"{quoted(schema)}.{quoted(table.name)}"
            postgres.execute(f"CREATE TABLE {name} ({declared})")  # type: ignore[arg-type]  # a statement of the tests
            found = source.execute(f"SELECT * FROM {quoted(table.name)}")
            copied = found.fetchall() if rows is None else found.fetchmany(rows)
            with postgres.cursor().copy(f"COPY {name} FROM STDIN") as copy:  # type: ignore[arg-type]  # a statement of the tests
                for row in copied:
                    copy.write_row([_stored(cell) for cell in row])
            read = ", ".join(f"{quoted(c.name)} {c.sql_type}" for c in table.columns)
            duck.execute(f"CREATE TABLE {quoted(table.name)} ({read})")
            marks = ", ".join("?" * len(table.columns))
            kept = [[_kept(cell, c) for cell, c in zip(row, table.columns, strict=True)] for row in copied]
            if kept:
                duck.executemany(f"INSERT INTO {quoted(table.name)} VALUES ({marks})", kept)
        return cls(made, database, duck, postgres)

    def compiled(self, plan: dict[str, Any]) -> RemoteQuery:
        return compile_remote(parse_plan(plan), self.dataset, self.database)

    def answers(self, plan: dict[str, Any]) -> tuple[Rows, Rows]:
        """DuckDB's, and PostgreSQL's as the types of the query say."""
        here = self.duck.execute(compile_plan(parse_plan(plan), self.dataset).sql)
        query = self.compiled(plan)
        types = [str(type_) for _, type_, *_ in here.description]
        assert [type_ for _, type_ in query.columns] == types
        assert [name for name, _ in query.columns] == [name for name, *_ in here.description]
        there = self.postgres.execute(query.sql.encode())
        return here.fetchall(), converted(there.fetchall(), query.columns)

    def check(self, plan: dict[str, Any]) -> None:
        here, there = self.answers(plan)
        assert alike(here, there), f"{here[:5]}\n{there[:5]}"


def converted(rows: Iterable[Sequence[Any]], columns: Sequence[tuple[str, str]]) -> Rows:
    return [tuple(cell(value, columns[n][1]) for n, value in enumerate(row)) for row in rows]


def cell(value: Any, sql_type: str) -> Any:
    """A value of the driver as a value of DuckDB's type, exactly."""
    if value is None:
        return None
    if sql_type in ("SMALLINT", "INTEGER", "BIGINT", "HUGEINT"):
        assert value == int(value) and not isinstance(value, float)
        return int(value)
    if sql_type.startswith("DECIMAL("):
        width, scale = map(int, sql_type.removeprefix("DECIMAL(").rstrip(")").split(","))
        exact = Decimal(value)
        sign, digits, exponent = exact.as_tuple()
        assert isinstance(exponent, int)
        shifted = int("".join(map(str, digits))) * 10 ** max(exponent + scale, 0)
        rest = 10 ** max(-exponent - scale, 0)
        assert shifted % rest == 0 and shifted // rest < 10**width, f"{value} is no {sql_type}"
        return Decimal((sign, tuple(map(int, str(shifted // rest))), -scale))
    expected = {"DOUBLE": float, "VARCHAR": str, "BOOLEAN": bool, "DATE": dt.date, "TIME": dt.time}
    assert type(value) is expected.get(sql_type, dt.datetime), f"{value!r} is no {sql_type}"
    return value


def alike(left: Rows, right: Rows) -> bool:
    if [len(row) for row in left] != [len(row) for row in right]:
        return False
    return all(same_cell(x, y) for a, b in zip(left, right, strict=True) for x, y in zip(a, b, strict=True))


def same_cell(x: Any, y: Any) -> bool:
    if isinstance(x, float) and isinstance(y, float):
        return math.isclose(x, y, rel_tol=TOLERANCE, abs_tol=1e-12) or (math.isnan(x) and math.isnan(y))
    if isinstance(x, Decimal) and isinstance(y, Decimal):
        return x.as_tuple() == y.as_tuple() or (x == y == 0 and x.as_tuple()[2] == y.as_tuple()[2])
    return type(x) is type(y) and x == y


def _stored(value: Any) -> Any:
    """PostgreSQL holds no NUL."""
    return value.replace("\0", "") if isinstance(value, str) else value


def _kept(value: Any, column: Column) -> Any:
    """As DuckDB holds what the database gives."""
    if isinstance(value, list):
        return "{" + ",".join(map(str, value)) + "}"
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    if column.sql_type == "VARCHAR" and value is not None:
        return _stored(str(value))
    return value
