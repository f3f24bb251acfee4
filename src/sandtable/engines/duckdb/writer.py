"""SQL nodes as text in DuckDB's dialect, laid out for a person."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.generators.duckdb import DuckDBGenerator

_SHORT = 80


class _Writer(DuckDBGenerator):
    # Pretty printing marks line breaks inside literals with this; the default is text a value may hold.
    SENTINEL_LINE_BREAK = "\x00"

    def paren_sql(self, expression: exp.Paren) -> str:
        inner = self.sql(expression, "this")
        return f"({inner})" if "\n" not in inner and len(inner) <= _SHORT else super().paren_sql(expression)

    def filter_sql(self, expression: exp.Filter) -> str:
        condition = self.sql(expression.expression, "this")
        return f"{self.sql(expression, 'this')} FILTER (WHERE {condition})"

    def not_sql(self, expression: exp.Not) -> str:
        test = expression.this
        if isinstance(test, exp.Is):
            return f"{self.sql(test, 'this')} IS NOT {self.sql(test, 'expression')}"
        if isinstance(test, exp.In):
            return f"{self.sql(test, 'this')} NOT IN ({self.expressions(test, flat=True)})"
        return super().not_sql(expression)


def write(query: exp.Expr) -> str:
    return _Writer(dialect="duckdb", pretty=True).generate(query, copy=False)
