"""QueryPlan → SQL for the database that holds the data.

Invariant: pure and byte-deterministic, as `sql.compile`. The text is one SELECT with a LIMIT and a total order. The
names of the database reach it as quoted identifiers, the values of the plan as constants, and no other text does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sandtable.catalog.live import LiveDatabase, RemoteColumn, RemoteTable
from sandtable.catalog.model import Dataset, Table
from sandtable.engines.duckdb.types import facts
from sandtable.engines.postgres.reading import can_name, can_read, reading
from sandtable.engines.postgres.spelling import POSTGRES
from sandtable.engines.postgres.writer import write
from sandtable.engines.types import NUMERIC, TEMPORAL
from sandtable.errors import InvalidInput
from sandtable.plan.model import QueryPlan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.plan.validate import require_plan
from sandtable.plan.walking import columns_read, matches
from sandtable.quoting import quote
from sandtable.sql.column_types import Types
from sandtable.sql.compile import DEFAULT_MAX_ROWS, row_limit
from sandtable.sql.query import build_query

_COPY = "Copy the tables of the database into a dataset, and ask there."
_REFRESH = "Read the tables of the database again."


@dataclass(frozen=True, slots=True)
class RemoteQuery:
    sql: str
    """To be executed without parameters: a percent sign in it is a percent sign."""
    columns: tuple[tuple[str, str], ...]
    """The names of the result's columns, in their order, and the type of DuckDB that the values of each become. A value
    that a type cannot hold exactly is an error. The text may have another name for a column whose name is long."""
    limit: int
    warnings: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    """Of the dataset, that the text reads."""


def compile_remote(
    plan: QueryPlan, dataset: Dataset, database: LiveDatabase, *, max_rows: int = DEFAULT_MAX_ROWS
) -> RemoteQuery:
    """InvalidInput when the plan does not fit the dataset, or asks what the database cannot answer exactly."""
    if database.kind != "postgresql":
        message = "plans are answered in PostgreSQL databases only"
        raise InvalidInput(message, suggestion=_COPY)
    resolved = require_plan(plan, dataset)
    needed = dict(_needed(resolved, dataset))
    steps = [_reading(name, columns, dataset, database) for name, columns in needed.items()]
    _check_joins(resolved, dataset)
    limit, warnings = row_limit(resolved, max_rows)
    query = build_query(resolved, dataset, POSTGRES).limit(exp.Literal.number(limit), copy=False)
    query.set("with_", exp.With(expressions=[*steps, *query.ctes]))
    types = Types.of_plan(resolved).columns()
    return RemoteQuery(write(query), types, limit, (*resolved.warnings, *warnings), tuple(needed))


def _needed(plan: ResolvedPlan, dataset: Dataset) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tables of the dataset that a plan reads, and their columns, both in the order of the dataset."""
    tables: set[str] = set()
    columns: set[tuple[str, str]] = set()
    for each in _plans(plan):
        tables |= {each.table, *(join.table for join in each.joins)}
        columns |= {(ref.table, ref.column) for ref in columns_read((each,))}
        for join in each.joins:
            columns |= {(join.table, join.column), (join.to_table, join.to_column)}
    for table in dataset.tables:
        if table.name in tables:
            yield table.name, tuple(c.name for c in table.columns if (table.name, c.name) in columns)


def _plans(plan: ResolvedPlan) -> Iterator[ResolvedPlan]:
    """The plan and those that it is made of."""
    yield plan
    for item in plan.defined:
        yield from _plans(item.plan)
    for match in matches((plan,)):
        yield from _plans(match.rows)


def _reading(name: str, columns: tuple[str, ...], dataset: Dataset, database: LiveDatabase) -> exp.CTE:
    table, remote = dataset.table(name), database.table(name)
    if table is None or remote is None:
        raise InvalidInput(f"the database has no table for {quote(name)}", suggestion=_REFRESH)
    for there in (remote.db_schema, remote.db_table):
        _check_name(there)
    return reading(remote, [_column(column, table, remote) for column in columns])


def _column(name: str, table: Table, remote: RemoteTable) -> tuple[RemoteColumn, str]:
    known, column = table.column(name), remote.column(name)
    if known is None or column is None:
        message = f"the database has no column for {quote(name)} of {quote(table.name)}"
        raise InvalidInput(message, suggestion=_REFRESH)
    _check_name(column.source)
    if not can_read(known.sql_type):
        message = f"{quote(name)} of {quote(table.name)} is {quote(known.sql_type)}, which no column of it can become"
        raise InvalidInput(message, suggestion=_COPY)
    return column, known.sql_type


def _check_name(name: str) -> None:
    if not can_name(name):
        raise InvalidInput(f"{quote(name)} is no name of a PostgreSQL database", suggestion=_REFRESH)


def _check_joins(plan: ResolvedPlan, dataset: Dataset) -> None:
    """DuckDB converts texts to what they are joined with; PostgreSQL does not."""
    for each in _plans(plan):
        for join in each.joins:
            one, other = dataset.table(join.table), dataset.table(join.to_table)
            near = other.column(join.to_column) if other else None
            far = one.column(join.column) if one else None
            if near is None or far is None or _family(near.sql_type) == _family(far.sql_type):
                continue
            message = (
                f"{quote(join.to_table)} and {quote(join.table)} are joined by columns of different types, "
                f"{near.sql_type} and {far.sql_type}, which PostgreSQL does not compare"
            )
            raise InvalidInput(message, suggestion=_COPY)


def _family(sql_type: str) -> str:
    logical = facts(sql_type).logical
    return "number" if logical in NUMERIC else "moment" if logical in TEMPORAL else logical.value
