"""SQL laid out for a person, by the generator of any dialect."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.generator import Generator

_SHORT = 80


class ForPeople(Generator):
    """Mixed in before the generator of a dialect: short parentheses on one line, `IS NOT` and `NOT IN` as words."""

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
