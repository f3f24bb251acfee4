"""Suggested corrections of a refused text.

Each is an edit of the text at the place that the refusal names. The gate must approve a candidate before it is
shown. Where a meaning would have to be guessed there is no candidate, nor for a text that would change data or
reach a file or an address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sandtable.catalog.model import Dataset
from sandtable.engines.rules import Functions
from sandtable.policy import dialect_fixes, name_fixes, statement_fixes
from sandtable.policy.fix_case import Case
from sandtable.policy.names import fold
from sandtable.policy.verdict import Fix, Refused

MOST_CANDIDATES = 5
LONGEST = 16 << 10
"""Longest text, in characters, that corrections are suggested for."""


def candidates(text: str, refused: Refused, dataset: Dataset, functions: Functions) -> list[Fix]:
    """A few candidates, most likely first. The gate has not judged them."""
    if len(text) > LONGEST:
        return []
    case = Case(text, refused, dataset, functions)
    for family in _FAMILIES:
        if found := family(case):
            return distinct(found, text)
    return []


def distinct(found: Iterable[Fix], text: str) -> list[Fix]:
    """Without duplicates and without texts that change nothing."""
    by_text = {fix.text: fix for fix in reversed(list(found)) if fix.text != text}
    return list(reversed(by_text.values()))[:MOST_CANDIDATES]


def _dialect(case: Case) -> list[Fix]:
    names = {fold(c.name): c.name for t in case.dataset.tables for c in t.columns} | case.tables
    if case.refused.construct.startswith("U+"):
        plain = dialect_fixes.without_invisible(case.text)
        return [Fix("Remove invisible characters", plain)] if plain else []
    # `TOP (5) x` reads as a call of a function.
    if not case.refused.message.startswith("This is not valid SQL") and case.refused.construct != "top":
        return []
    text, titles = case.text, list[str]()
    for title, rewrite in dialect_fixes.REWRITES:
        new = rewrite(text, names)
        if new is not None and new != text:
            text = new
            titles.append(title)
    if not titles:
        return name_fixes.misspelt_place(case)
    return [Fix(titles[0] if len(titles) == 1 else "Write it in DuckDB's dialect", text)]


_FAMILIES: tuple[Callable[[Case], list[Fix]], ...] = (
    name_fixes.unknown_table,
    name_fixes.qualified_table,
    name_fixes.qualified_function,
    name_fixes.file_of_a_table,
    name_fixes.unknown_function,
    statement_fixes.dump,
    statement_fixes.collected,
    statement_fixes.pivot,
    statement_fixes.several,
    statement_fixes.described,
    _dialect,
)
