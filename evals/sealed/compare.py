"""Whether a result is one of the accepted answers of a sealed question. Pure.

Invariant: a result is right as a whole or not at all. Rows must be exactly those expected. Row order counts only
where the question asks for an order; column order never does. At most two columns may stand beside the expected
ones; in a list or a lookup any number may, because showing whole rows answers it too.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from evals.sealed.load import Item

Rows = Sequence[Sequence[Any]]

MOST_BESIDE = 2
_TRUTH = {"yes": True, "true": True, "y": True, "no": False, "false": False, "n": False}
_LEAD = re.compile(r"[\W_]*(yes|no|true|false)\b", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[t ]00:00(?::00(?:\.0+)?)?")
_MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)


def accepts(item: Item, rows: Rows | None, text: str = "") -> bool:
    """Of an answered question: its rows and its words against every accepted answer."""
    beside = None if {"list", "lookup"} & set(item.tags) else MOST_BESIDE
    return any(matches(answer, rows, text, ordered=item.ordered, beside=beside) for answer in item.answers)


def matches(
    answer: Any,
    rows: Rows | None,
    text: str = "",
    *,
    ordered: bool = False,
    beside: int | None = MOST_BESIDE,
) -> bool:
    found = [list(row) for row in rows or ()]
    if isinstance(answer, bool) and _says(found, text) is answer:
        return True
    if rows is None:
        return False
    return any(_fits(shape, found, ordered, beside) for shape in _shapes(answer))


def _shapes(answer: Any) -> Iterator[list[list[Any]]]:
    """The tables that show an answer: several values may be one row or one column."""
    if not isinstance(answer, list):
        yield [[answer]]
    elif answer and isinstance(answer[0], list):
        yield answer
    else:
        yield [[value] for value in answer]
        if len(answer) > 1:
            yield [answer]


def _fits(expected: list[list[Any]], found: list[list[Any]], ordered: bool, beside: int | None) -> bool:
    if len(expected) != len(found):
        return False
    if not expected:
        return True
    width, wide = len(expected[0]), len(found[0])
    if wide < width or (beside is not None and wide > width + beside):
        return False
    shown = list(zip(*found, strict=True))
    places = [
        [place for place in range(wide) if _same_rows(column, shown[place], ordered)]
        for column in zip(*expected, strict=True)
    ]
    return any(
        _same_rows(expected, [[row[place] for place in chosen] for row in found], ordered)
        for chosen in product(*places)
        if len(set(chosen)) == width
    )


def _same_rows(expected: Sequence[Any], found: Sequence[Any], ordered: bool) -> bool:
    """Rows, or the cells of one column."""
    left = list(found)
    for wanted in expected:
        at = next((n for n, other in enumerate(left) if _same_row(wanted, other)), None)
        if at is None or (ordered and at > 0):
            return False
        del left[at]
    return True


def _same_row(expected: Any, found: Any) -> bool:
    return all(map(same, expected, found)) if isinstance(expected, list) else same(expected, found)


def same(expected: Any, found: Any) -> bool:
    """One value. A number may be rounded to two or more decimals; a period may be named, or be its first day."""
    if expected is None or found is None:
        return expected is found
    if isinstance(expected, bool) or isinstance(found, bool):
        truth = _truth(expected)
        return truth is not None and truth is _truth(found)
    wanted, number = _number(expected), _number(found)
    if wanted is not None and number is not None:
        return _close(wanted, number)
    left, right = _folded(expected), _folded(found)
    return left == right or right in _names(left) or left in _names(right)


def _close(wanted: float, found: float) -> bool:
    if math.isclose(wanted, found, rel_tol=1e-6, abs_tol=1e-9):
        return True
    decimals = len(repr(found).partition(".")[2])
    return decimals >= 2 and abs(wanted - found) <= 0.5 * 10**-decimals * (1 + 1e-9)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        text = value.strip().replace(",", "")
        return float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _folded(value: Any) -> str:
    if hasattr(value, "isoformat"):
        value = value.isoformat()
    text = " ".join(unicodedata.normalize("NFKC", str(value)).casefold().split())
    midnight = _MIDNIGHT.fullmatch(text)
    return midnight[1] if midnight else re.sub(r"(?<=\d)t(?=\d)", " ", text)


def _names(day: str) -> Iterator[str]:
    """What a period that begins on this day may be called."""
    parts = day.split("-")
    if len(parts) != 3 or not all(part.isdigit() for part in parts) or parts[2] != "01":
        return
    year, month = parts[0], int(parts[1])
    word = _MONTHS[month - 1]
    yield from (f"{year}-{month:02d}", f"{word} {year}", f"{word[:3]} {year}", f"{year} {word}")
    if month % 3 == 1:
        quarter = month // 3 + 1
        yield from (f"q{quarter} {year}", f"{year} q{quarter}", f"{year}-q{quarter}", f"{year}q{quarter}")
    if month == 1:
        yield year


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _TRUTH.get(_folded(value)) if isinstance(value, str) else None


def _says(rows: list[list[Any]], text: str) -> bool | None:
    """A single boolean decides, else the first word of the answer."""
    if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], bool):
        return rows[0][0]
    lead = _LEAD.match(text)
    return _TRUTH[lead[1].lower()] if lead else None
