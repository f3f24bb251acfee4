"""Suggestions for a text that DuckDB's parser rejects: most often it is another dialect.

Patterns only, on a short prefix: a second parser in the server process could be made to run for
minutes by a chain of joins. Nothing here can turn a refusal into an approval.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_HINTED = 2_000
"""Characters of the text that are searched."""

_PIVOTED = re.compile(
    r'\bpivot\s++(?:(\w++|"[^"]*+")\s++on\b|.*?\)\s*+on\b)\s*+(\w+|"[^"]+")', re.IGNORECASE | re.DOTALL
)
_NO_SQL = re.compile(
    r"^\W*(?!select|with|from|values|describe|summarize|table|pivot|unpivot)\w+", re.IGNORECASE
)


def syntax_hint(text: str, spellings: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """A suggestion for a text that is not valid DuckDB SQL."""
    short = text[:MAX_HINTED]
    for pattern, hint in spellings:
        if pattern.search(short):
            return hint
    if _NO_SQL.match(short):
        return "write one SELECT statement in DuckDB's dialect"
    return "check the spelling near the marked place; one SELECT in DuckDB's dialect is expected"


def pivot_hint(text: str) -> str:
    """How to rewrite a PIVOT whose columns depend on the data, with the names of the query."""
    found = _PIVOTED.search(text[:MAX_HINTED])
    table, column = (found.group(1) or "t", found.group(2)) if found else ("t", "column")
    return (
        f"list the values: PIVOT {table} ON {column} IN ('a', 'b') USING sum(x); SELECT DISTINCT {column} "
        f"finds them. Or write a column for each: sum(x) FILTER (WHERE {column} = 'a')"
    )
