"""SQL nodes as text in PostgreSQL's dialect.

Invariant: a closed set. A node or function that is not in the lists here is never written, so a defect of the compiler
cannot reach a function that does more than compute. No setting of the session changes the meaning of the text: a
constant with a backslash or an invisible character is an escape string, which `standard_conforming_strings` has no
effect on, and in others there is no backslash.
"""

from __future__ import annotations

import hashlib
import re

from sqlglot import exp
from sqlglot.generators.postgres import PostgresGenerator

from sandtable.engines.layout import ForPeople
from sandtable.quoting import INVISIBLE

FUNCTIONS = frozenset(
    (
        "ARRAY_AGG ARRAY_POSITION AVG BOOL_AND BOOL_OR BTRIM CARDINALITY CEIL COALESCE CONCAT CORR DATE_TRUNC "
        "DENSE_RANK FLOOR GREATEST GROUPING LAG LEAD LENGTH LOWER LPAD MAX MIN PERCENTILE_CONT RANK "
        "REGEXP_SPLIT_TO_ARRAY RIGHT ROUND ROW_NUMBER RTRIM STARTS_WITH STDDEV_SAMP STRPOS SUM TO_CHAR TRANSLATE "
        "TRUNC UNNEST"
    ).split()
)
_NODES: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Abs, exp.Add, exp.Alias, exp.And, exp.Any, exp.Anonymous, exp.Array, exp.AtTimeZone, exp.Between,
        exp.Boolean, exp.Bracket, exp.CTE, exp.Case, exp.Cast, exp.Collate, exp.Column, exp.Count, exp.DataType,
        exp.Distinct, exp.Div, exp.EQ, exp.Extract, exp.Filter, exp.From, exp.GT, exp.GTE, exp.Group,
        exp.GroupingSets, exp.Having, exp.Identifier, exp.If, exp.In, exp.Interval, exp.Is, exp.Join, exp.LT, exp.LTE,
        exp.Limit, exp.Literal, exp.Mul, exp.NEQ, exp.Neg, exp.Not, exp.Null, exp.Nullif, exp.Or, exp.Order,
        exp.Ordered, exp.Paren, exp.Select, exp.Star, exp.Sub, exp.Subquery, exp.Table, exp.TableAlias, exp.Tuple,
        exp.Var, exp.Where, exp.Window, exp.WindowSpec, exp.With, exp.WithinGroup,
    }
)  # fmt: skip
LONGEST_NAME = 63
"""In bytes. PostgreSQL cuts longer names off, and then two may be one."""
_DIGEST = 32


class _Writer(ForPeople, PostgresGenerator):
    def literal_sql(self, expression: exp.Literal) -> str:
        return _constant(expression.name) if expression.is_string else expression.name

    def identifier_sql(self, expression: exp.Identifier) -> str:
        doubled = written_name(expression.name).replace('"', '""')
        return f'"{self._replace_line_breaks(doubled)}"'

    def cte_sql(self, expression: exp.CTE) -> str:
        # What DuckDB must materialize, PostgreSQL may plan as it likes.
        plain = expression.copy()
        if plain.args.get("materialized"):
            plain.set("materialized", None)
        return super().cte_sql(plain)


def write(query: exp.Expr) -> str:
    for node in query.walk():
        if type(node) not in _NODES or (isinstance(node, exp.Anonymous) and node.name not in FUNCTIONS):
            raise AssertionError(f"{node.name or type(node).__name__} is never sent to PostgreSQL")
    return _Writer(dialect="postgres", pretty=True).generate(query, copy=False)


def written_name(name: str) -> str:
    """The name as it is written; one that PostgreSQL cannot hold is replaced by its beginning and a digest of it."""
    if "\0" not in name and len(_bytes(name)) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(_bytes(name)).hexdigest()[:_DIGEST]
    room = LONGEST_NAME - len(digest) - 1
    start = _bytes(name.replace("\0", ""))[:room].decode("utf-8", errors="ignore")
    return f"{start}_{digest}"


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", errors="replace")


def _constant(value: str) -> str:
    doubled = value.replace("'", "''")
    if "\\" not in value and not INVISIBLE.search(value):
        return f"'{doubled}'"
    escaped = INVISIBLE.sub(_code_point, doubled.replace("\\", "\\\\"))
    return f"E'{escaped}'"


def _code_point(match: re.Match[str]) -> str:
    point = ord(match[0])
    return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"
