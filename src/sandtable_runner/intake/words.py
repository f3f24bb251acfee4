"""Words that are values of a boolean, and words that say that a cell is empty."""

from __future__ import annotations

from sandtable_runner.engine import literal
from sandtable_runner.intake.numbers import BLANKS
from sandtable_runner.intake.reading import InSql, Reading

_PAIRS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("true",), ("false",)),
    (("yes",), ("no",)),
    (("y",), ("n",)),
    (("t",), ("f",)),
    (("ja",), ("nein",)),
    (("oui",), ("non",)),
    (("sí", "si"), ("no",)),
    (("wahr",), ("falsch",)),
    (("vrai",), ("faux",)),
)
"""0 and 1 are numbers."""

EMPTY_IN_TEXT = ("N/A", "n/a", "#N/A", "NULL", "null", "\\N")
"""Never `NA` (Namibia), `-`, `None` or `unknown`, which are values of some columns."""
EMPTY = (
    *EMPTY_IN_TEXT,
    *("NA", "na", "N.A.", "n.a.", "#NA", "Null", "None", "none", "nan", "NaN", "NAN", "-", "--", "–", "—"),
    *("?", ".", "..", "…", "missing", "Missing", "unknown", "Unknown"),
)


def boolean(true: tuple[str, ...], false: tuple[str, ...]) -> Reading:
    """`true` and `false` are the default: a recipe does not name them."""
    if (true, false) == _PAIRS[0]:
        return Reading("boolean")
    return Reading("boolean", true=true, false=false)


BOOLEANS = tuple(boolean(*pair) for pair in _PAIRS)


def words_of(reading: Reading) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (reading.true, reading.false) if reading.true or reading.false else _PAIRS[0]


def readings_of(cell: str) -> list[Reading]:
    word = cell.lower()
    return [reading for reading in BOOLEANS if any(word in words for words in words_of(reading))]


def holds(reading: Reading, cells: set[str]) -> bool:
    """Whether a column is a boolean. Both words must occur, except true or false: a column that is always `NO` may hold
    countries."""
    true, false = words_of(reading)
    return reading == BOOLEANS[0] or bool(cells & set(true) and cells & set(false))


def in_sql(reading: Reading, cell: str) -> InSql:
    true, false = words_of(reading)
    trimmed = f"lower(trim({cell}, {literal(BLANKS)}))"
    fits = f"{trimmed} IN ({listed((*true, *false))})"
    quick = tuple(
        (f"{cell} = {literal(word)}", value)
        for words, value in ((true, "true"), (false, "false"))
        for word in words
    )
    return InSql("BOOLEAN", quick, fits, f"{trimmed} IN ({listed(true)})")


def listed(words: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(literal, words))
