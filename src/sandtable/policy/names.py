"""Names as the engine compares them, and what to say about one that is not known.

Invariant: names are folded for ASCII letters only, as the engine does. Python's `lower` would
make other letters equal (the Kelvin sign and k) and let a CTE stand in for a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode
from sandtable.policy.forbidden import refusal_of
from sandtable.policy.functions import ALLOWED, TABLE_FUNCTIONS, WINDOW_ONLY
from sandtable.policy.place import refuse
from sandtable.policy.verdict import Refused
from sandtable.quoting import quote

MAX_SHOWN = 100
"""Characters of a name that a message repeats."""

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_PLACE = re.compile(r"[/\\.:*?|\[\]{}]")
_CATALOG = re.compile(r"^(information_schema|pg_|sqlite_|duckdb_|pragma_|main$|system$|temp$)", re.IGNORECASE)

# Functions of other dialects, and how DuckDB spells them.
DIALECT: dict[str, str] = {
    "charindex": "strpos(text, part)",
    "convert": "CAST(x AS type)",
    "date_format": "strftime(ts, '%Y-%m')",
    "dateadd": "ts + INTERVAL 3 DAY",
    "datefromparts": "make_date(year, month, day)",
    "datename": "strftime(ts, …) or dayname(ts)",
    "eomonth": "last_day(date)",
    "from_unixtime": "to_timestamp(seconds)",
    "getdate": "current_timestamp",
    "iff": "if(condition, a, b)",
    "iif": "if(condition, a, b)",
    "isnull": "coalesce(x, y), or x IS NULL",
    "json_extract_scalar": "json_extract_string(json, path)",
    "newid": "uuid()",
    "nvl": "coalesce(x, y)",
    "nvl2": "CASE WHEN x IS NOT NULL THEN a ELSE b END",
    "percentile": "quantile_cont(x, 0.5)",
    "percentile_approx": "approx_quantile(x, 0.5)",
    "approx_percentile": "approx_quantile(x, 0.5)",
    "rand": "random()",
    "regexp_like": "regexp_matches(text, pattern)",
    "regexp_substr": "regexp_extract(text, pattern)",
    "safe_cast": "TRY_CAST(x AS type)",
    "safe_divide": "a / nullif(b, 0)",
    "square": "pow(x, 2)",
    "stdev": "stddev(x)",
    "stdevp": "stddev_pop(x)",
    "str_to_date": "strptime(text, '%Y-%m-%d')",
    "substring_index": "split_part(text, ',', 1)",
    "sysdate": "current_timestamp",
    "timestampdiff": "date_diff('day', a, b)",
    "timestamp_diff": "date_diff('day', a, b)",
    "to_char": "strftime(ts, '%Y-%m')",
    "to_date": "strptime(text, '%Y-%m-%d')::DATE",
    "to_number": "CAST(text AS DECIMAL)",
    "truncate": "trunc(x)",
    "try_convert": "TRY_CAST(x AS type)",
    "unix_timestamp": "epoch(ts)",
    "var": "variance(x)",
    "zeroifnull": "coalesce(x, 0)",
}


def _near(name: str, known: Iterable[str], cutoff: float) -> str | None:
    """The nearest known name; a name that is too long to be a typo has none."""
    found = get_close_matches(name, known, n=1, cutoff=cutoff) if len(name) <= MAX_SHOWN else []
    return found[0] if found else None


def _shown(name: str) -> str:
    return name if len(name) <= MAX_SHOWN else name[:MAX_SHOWN] + "…"


def fold(name: str) -> str:
    return name.translate(_ASCII_LOWER)


def looks_like_a_place(name: str) -> bool:
    """Whether a name could make the engine open a file or an address."""
    return bool(_PLACE.search(name))


class TableNames:
    """The dataset's tables by folded name."""

    def __init__(self, dataset: Dataset) -> None:
        self._by_name = {fold(table.name): table.name for table in dataset.tables}

    def get(self, folded: str) -> str | None:
        return self._by_name.get(folded)

    @property
    def listed(self) -> str:
        return ", ".join(self._by_name.values())

    @property
    def example(self) -> str:
        return next(iter(self._by_name.values()))

    def unknown(self, text: str, ref: Mapping[str, Any], path: list[str], scope: Iterable[str]) -> Refused:
        name = _shown(".".join(path)) or "a table"
        tables = f"use the dataset's tables: {self.listed}"
        elsewhere = len(path) != 1 or _CATALOG.match(name)
        if elsewhere or looks_like_a_place(name):
            where = (
                "is not in the dataset's schema" if elsewhere else "would be read from a file or an address"
            )
            message = f"{quote(name)} {where}; only the dataset's tables can be read."
            return refuse(text, ref, name, message, tables)
        near = _near(fold(name), [*self._by_name, *(s for s in scope if "." not in s)], 0.6)
        guess = f"; did you mean {quote(self._by_name.get(near, near))}?" if near else ""
        return refuse(
            text, ref, name, f"There is no table {quote(name)}.", tables + guess, ErrorCode.VALIDATION_ERROR
        )


def unknown_function(
    text: str, call: Mapping[str, Any], name: str, *, table: bool = False, over: bool = False
) -> Refused:
    """Say why a function is refused: forbidden, in the wrong position, of another dialect, or a typo."""
    name = _shown(name)
    called = quote(f"{name}()")
    if table and name in ALLOWED:
        return refuse(
            text, call, name, f"{name}() cannot stand in FROM.", "FROM takes tables, unnest(…) and range(…)"
        )
    if name in WINDOW_ONLY and not over:
        hint, code = f"write {name}() OVER (ORDER BY …)", ErrorCode.VALIDATION_ERROR
        return refuse(text, call, name, f"{name}() needs a window.", hint, code)
    if name in ALLOWED:
        hint, code = f"call {name}() without OVER", ErrorCode.VALIDATION_ERROR
        return refuse(text, call, name, f"{name}() is not a window function.", hint, code)
    if name in DIALECT:
        message, hint = f"{name}() is not a DuckDB function.", f"in DuckDB: {DIALECT[name]}"
        return refuse(text, call, name, message, hint, ErrorCode.VALIDATION_ERROR)
    if refusal := refusal_of(name):
        return refuse(text, call, name, f"{called} is not allowed: {refusal.reason}.", refusal.suggestion)
    near = _near(name, TABLE_FUNCTIONS if table else ALLOWED, 0.75)
    hint = f"did you mean {near}()?" if near else "see docs/policy.md for the functions that may be called"
    message = f"{called} is not a function that may be called."
    return refuse(text, call, name, message, hint, ErrorCode.VALIDATION_ERROR)
