"""What to say about a text that DuckDB's parser did not take: most often it is another dialect.

Runs only after a refusal and on short texts; nothing here can turn a refusal into an approval.
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot.errors import SqlglotError

MAX_HINTED = 2_000
"""Characters. sqlglot is pure Python and its time is not bounded by anything else."""

_SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), hint)
    for pattern, hint in (
        (r"\bselect\s+(?:distinct\s+)?top\s*\(?\d+", "DuckDB writes LIMIT at the end: SELECT … LIMIT 10"),
        (r"\blimit\s+\d+\s*,\s*\d+", "DuckDB writes LIMIT count OFFSET start: LIMIT 10 OFFSET 5"),
        (r"`", 'DuckDB quotes names so: "column name"'),
        (r"(?:select|,|by|where|from)\s*\[[a-z_][\w ]*\]", 'DuckDB quotes names so: "column name"'),
        (r"\bdate_(?:sub|add)\s*\([^()]*,\s*interval", "DuckDB adds intervals: ts - INTERVAL 7 DAY"),
        (r"\bfetch\s+next\b", "DuckDB writes LIMIT 10"),
        (r"\brownum\b", "DuckDB writes LIMIT 10, or row_number() OVER (…)"),
        (r"\bwith\s*\(\s*nolock\s*\)", "leave WITH (NOLOCK) out"),
        (r"\bcross\s+apply\b", "DuckDB writes CROSS JOIN LATERAL (…)"),
        (r"\bouter\s+apply\b", "DuckDB writes LEFT JOIN LATERAL (…) ON true"),
        (r"\bfor\s+update\b", "leave FOR UPDATE out: queries only read"),
        (r"\blike\s+any\b", "write list_bool_or([name LIKE p FOR p IN […]])"),
        (r"\bconnect\s+by\b", "DuckDB writes WITH RECURSIVE"),
        (r"\bminus\b", "DuckDB writes EXCEPT"),
        (r"\bpivot\b", "PIVOT t ON column IN ('a', 'b') USING sum(x), or sum(x) FILTER (WHERE …)"),
    )
)
_DIALECTS = ("mysql", "tsql", "bigquery", "snowflake", "oracle", "postgres", "spark")


def syntax_hint(text: str) -> str:
    """A suggestion for a text that is not valid DuckDB SQL."""
    short = text[:MAX_HINTED]
    for pattern, hint in _SPELLINGS:
        if pattern.search(short):
            return hint
    if len(text) <= MAX_HINTED and (translated := _translated(text)):
        return f"this looks like {translated[0]}; in DuckDB: {translated[1]}"
    return "check the spelling near the marked place; one SELECT in DuckDB's dialect is expected"


def _translated(text: str) -> tuple[str, str] | None:
    if text.count("(") > 50 or text.count("[") > 50:
        return None
    for dialect in _DIALECTS:
        try:
            statements = sqlglot.transpile(text, read=dialect, write="duckdb")
        except (SqlglotError, RecursionError, ValueError):
            continue
        if len(statements) == 1 and statements[0].upper().startswith(("SELECT", "WITH")):
            return dialect, statements[0]
    return None
