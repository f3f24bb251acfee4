"""What to say about a text that DuckDB's parser did not take: most often it is another dialect.

Patterns only, on a short prefix: a second parser in the server process could be made to run for
minutes by a chain of joins. Nothing here can turn a refusal into an approval.
"""

from __future__ import annotations

import re

MAX_HINTED = 2_000
"""Characters that are looked at."""

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
        (r"\bfor\s+update\b|\block\s+in\s+share\b", "leave the lock out: queries only read"),
        (r"\blike\s+any\b", "write list_bool_or([name LIKE p FOR p IN […]])"),
        (r"\bconnect\s+by\b", "DuckDB writes WITH RECURSIVE"),
        (r"\bminus\s+select\b", "DuckDB writes EXCEPT"),
        (r"\bstraight_join\b", "DuckDB orders joins itself: write JOIN"),
        (r"\blateral\s+view\b", "DuckDB writes FROM t, unnest(t.items) AS u(item)"),
        (r"\b(?:is)?rlike\b|\bregexp\s+'", "DuckDB writes regexp_matches(text, pattern)"),
        (r"\bdiv\b", "DuckDB writes a // b for whole-number division"),
        (r"\bconvert\s*\(|\bsafe_cast\s*\(", "DuckDB writes CAST(x AS type) or TRY_CAST(x AS type)"),
        (r"\bwithin\s+group\b", "DuckDB writes string_agg(x, ', ' ORDER BY x) and quantile_cont(x, 0.5)"),
        (r"\)\s*(?:ignore|respect)\s+nulls\b", "DuckDB writes lag(x IGNORE NULLS) OVER (…)"),
        (r"\bwith\s+(?:rollup|cube)\b", "DuckDB writes GROUP BY ROLLUP (a, b)"),
        (r"\bbetween\s+symmetric\b", "write the smaller value first: BETWEEN least(a, b) AND greatest(a, b)"),
        (r"\bpivot\b", "PIVOT t ON column IN ('a', 'b') USING sum(x), or sum(x) FILTER (WHERE …)"),
        (r"[\u2018\u2019\u201c\u201d]", "the text has typographic quotes: use ' for values and \" for names"),
    )
)
_PIVOTED = re.compile(
    r'\bpivot\s++(?:(\w++|"[^"]*+")\s++on\b|.*?\)\s*+on\b)\s*+(\w+|"[^"]+")', re.IGNORECASE | re.DOTALL
)
_NO_SQL = re.compile(
    r"^\W*(?!select|with|from|values|describe|summarize|table|pivot|unpivot)\w+", re.IGNORECASE
)


def syntax_hint(text: str) -> str:
    """A suggestion for a text that is not valid DuckDB SQL."""
    short = text[:MAX_HINTED]
    for pattern, hint in _SPELLINGS:
        if pattern.search(short):
            return hint
    if _NO_SQL.match(short):
        return "write one SELECT statement in DuckDB's dialect"
    return "check the spelling near the marked place; one SELECT in DuckDB's dialect is expected"


def pivot_hint(text: str) -> str:
    """How to write a PIVOT that leaves its columns to the data, in the query's own names."""
    found = _PIVOTED.search(text[:MAX_HINTED])
    table, column = (found.group(1) or "t", found.group(2)) if found else ("t", "column")
    return (
        f"list the values: PIVOT {table} ON {column} IN ('a', 'b') USING sum(x); SELECT DISTINCT {column} "
        f"finds them. Or write a column for each: sum(x) FILTER (WHERE {column} = 'a')"
    )
