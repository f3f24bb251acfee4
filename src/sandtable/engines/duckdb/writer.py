"""SQL nodes as text in DuckDB's dialect, laid out for a person."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.generators.duckdb import DuckDBGenerator

from sandtable.engines.layout import ForPeople


class _Writer(ForPeople, DuckDBGenerator):
    pass


def write(query: exp.Expr) -> str:
    return _Writer(dialect="duckdb", pretty=True).generate(query, copy=False)
