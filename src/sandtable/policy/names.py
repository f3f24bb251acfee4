"""Names as the engine compares them, and the messages about unknown ones.

Invariant: names are folded for ASCII letters only, as the engine does. Python's `lower` would
make other letters equal (the Kelvin sign and k) and let a CTE stand in for a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.engines.rules import Functions, SystemNames
from sandtable.errors import ErrorCode
from sandtable.policy.place import refuse
from sandtable.policy.verdict import Refused
from sandtable.quoting import quote

MAX_SHOWN = 100
"""Characters of a name that a message repeats."""

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_PLACE = re.compile(r"[/\\.:*?|\[\]{}]")


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

    def __init__(self, dataset: Dataset, system: SystemNames) -> None:
        self._system = system
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
        elsewhere = len(path) != 1 or self._system.tables.match(name)
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
    text: str,
    call: Mapping[str, Any],
    name: str,
    functions: Functions,
    *,
    table: bool = False,
    over: bool = False,
) -> Refused:
    """Say why a function is refused: forbidden, in the wrong position, of another dialect, or a typo."""
    name = _shown(name)
    called = quote(f"{name}()")
    if table and name in functions.allowed:
        return refuse(
            text, call, name, f"{name}() cannot stand in FROM.", "FROM takes tables, unnest(…) and range(…)"
        )
    if name in functions.window_only and not over:
        hint, code = f"write {name}() OVER (ORDER BY …)", ErrorCode.VALIDATION_ERROR
        return refuse(text, call, name, f"{name}() needs a window.", hint, code)
    if name in functions.allowed:
        hint, code = f"call {name}() without OVER", ErrorCode.VALIDATION_ERROR
        return refuse(text, call, name, f"{name}() is not a window function.", hint, code)
    if spelled := functions.of_other_dialects.get(name):
        message, hint = f"{name}() is not a DuckDB function.", f"in DuckDB: {spelled}"
        return refuse(text, call, name, message, hint, ErrorCode.VALIDATION_ERROR)
    if refusal := functions.refusal_of(name):
        return refuse(text, call, name, f"{called} is not allowed: {refusal.reason}.", refusal.suggestion)
    near = _near(name, functions.table_functions if table else functions.allowed, 0.75)
    hint = f"Did you mean {near}()?" if near else "See docs/policy.md for the functions that may be called"
    message = f"{called} is not a function that may be called."
    return refuse(text, call, name, message, hint, ErrorCode.VALIDATION_ERROR)
