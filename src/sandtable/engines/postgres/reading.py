"""How a query reads a table: each column under its name in the dataset, and of the type that the dataset says."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from sandtable.catalog.live import Read, RemoteColumn, RemoteTable
from sandtable.engines import nodes as n
from sandtable.engines.postgres.words import by_bytes
from sandtable.engines.postgres.writer import LONGEST_NAME

_CASTS = {
    "SMALLINT": exp.DType.SMALLINT, "INTEGER": exp.DType.INT, "BIGINT": exp.DType.BIGINT,
    "DOUBLE": exp.DType.DOUBLE, "BOOLEAN": exp.DType.BOOLEAN, "DATE": exp.DType.DATE,
    "TIMESTAMP": exp.DType.TIMESTAMP, "TIME": exp.DType.TIME,
}  # fmt: skip
_READS: frozenset[Read] = frozenset({"plain", "utc", "text", "double"})


def can_read(sql_type: str) -> bool:
    return sql_type in _CASTS or sql_type == "VARCHAR" or sql_type.startswith("DECIMAL(")


def can_name(name: str) -> bool:
    """Whether a database can have given something this name: it is never shortened here."""
    return bool(name) and "\0" not in name and len(name.encode("utf-8", errors="replace")) <= LONGEST_NAME


def reading(table: RemoteTable, columns: Iterable[tuple[RemoteColumn, str]]) -> exp.CTE:
    """A step with the name of the table in the dataset. `columns` are those that are needed, with DuckDB's types."""
    query = exp.Select()
    for column, sql_type in columns:
        query = query.select(exp.alias_(_read(column, sql_type), n.name(column.name), copy=False), copy=False)
    query = query.from_(exp.Table(this=n.name(table.db_table), db=n.name(table.db_schema)), copy=False)
    return exp.CTE(this=query, alias=exp.TableAlias(this=n.name(table.name)), materialized=False)


def _read(column: RemoteColumn, sql_type: str) -> exp.Expr:
    """A cast of a column to its own type costs nothing, and an index on it is used still."""
    if column.read not in _READS or not can_read(sql_type):
        raise ValueError(f"no column is read {column.read!r} as {sql_type}")
    node: exp.Expr = n.column(column.source)
    if sql_type == "VARCHAR":
        return by_bytes(exp.cast(node, exp.DType.TEXT))
    if column.read == "utc":
        return exp.AtTimeZone(this=node, zone=exp.Literal.string("UTC"))
    return node if sql_type.startswith("DECIMAL(") else exp.cast(node, _CASTS[sql_type])
