"""Whether a result is the expected answer. Pure; the rules are in docs/cli.md (`cli.reference`).

Invariant: a result is right as a whole or not at all. Rows too many or too few, a wrong value beside the right
one, or a wide row that holds the answer somewhere, are not right.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from sandtable.errors import InvalidInput

Scalar = str | int | float | bool
Rows = Sequence[Sequence[Any]]

MOST_COLUMNS = 3
"""A value may stand beside what it belongs to; in a wider result anything could be found."""
_CLOSE = 1e-6
_TINY = 1e-9

_NUMBER = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d{1,400}")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[t ]00:00(?::00(?:\.0+)?)?(?:z|\+00:00)?")
_LEAD = re.compile(r"[\W_]*(yes|no|true|false)\b", re.IGNORECASE)
_WORDS = {"yes": True, "true": True, "no": False, "false": False}


def check_expected(answer: Any) -> None:
    """Raises InvalidInput when nothing could be compared with it."""
    if answer is None or _is_scalar(answer):
        return
    if isinstance(answer, list):
        if all(_is_scalar(value) for value in answer):
            return
        rows = all(isinstance(row, list) and row for row in answer)
        if rows and all(value is None or _is_scalar(value) for row in answer for value in row):
            return
    raise InvalidInput(
        "`answer` is neither a value, nor a list of values, nor a list of rows",
        suggestion='Write 42, "Germany", true, ["a", "b"] or [["a", 1], ["b", 2]].',
    )


def is_right(answer: Any, rows: Rows | None, text: str = "") -> bool:
    """Of an answered question: its rows and its words against the expected answer."""
    found = [list(row) for row in rows or ()]
    if isinstance(answer, list):
        if answer and isinstance(answer[0], list):
            return rows is not None and _same_rows(answer, found)
        return rows is not None and (_in_a_column(answer, found) or _in_the_row(answer, found))
    if answer is None:
        return found == [[None]]
    truth = _truth(answer)
    if truth is not None and not _in_a_column([answer], found):
        return _says(found, text) is truth
    return _in_a_column([answer], found)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))


def _in_a_column(expected: list[Any], rows: list[list[Any]]) -> bool:
    """The values, in any order, are exactly those of one column."""
    if not rows:
        return not expected
    if len(rows[0]) > MOST_COLUMNS:
        return False
    return any(_same_bag(expected, list(column)) for column in zip(*rows, strict=True))


def _in_the_row(expected: list[Any], rows: list[list[Any]]) -> bool:
    """Several values, each in a column of its own."""
    return len(rows) == 1 and len(expected) > 1 and _same_bag(expected, rows[0])


def _same_bag(expected: list[Any], found: list[Any]) -> bool:
    if len(expected) != len(found):
        return False
    left = list(found)
    for value in expected:
        at = next((index for index, other in enumerate(left) if same(value, other)), None)
        if at is None:
            return False
        del left[at]
    return True


def _same_rows(expected: list[list[Any]], rows: list[list[Any]]) -> bool:
    if len(expected) != len(rows):
        return False
    return all(
        len(wanted) == len(found) and all(map(same, wanted, found))
        for wanted, found in zip(expected, rows, strict=True)
    )


def same(expected: Any, found: Any) -> bool:
    """One value. Text that is a number is that number, on either side."""
    if expected is None or found is None:
        return expected is found
    if isinstance(expected, bool) or isinstance(found, bool):
        truth = _truth(expected)
        return truth is not None and truth is _truth(found)
    if _whole(expected) is not None and _whole(found) is not None:
        # A tolerance would make neighbours of large counts and ids.
        return _whole(expected) == _whole(found)
    wanted, number = _number(expected), _number(found)
    if wanted is not None and number is not None:
        return _close(wanted, number, _decimals(expected))
    if isinstance(expected, str) and expected.strip().endswith("%") and number is not None:
        return _same_percent(expected, number)
    return _plain(str(expected)) == _plain(str(found))


def _same_percent(expected: str, number: float) -> bool:
    """`14.2 %` may be found as 14.2 or as 0.142."""
    wanted = _number(expected.strip().removesuffix("%").strip())
    decimals = _decimals(expected.strip().removesuffix("%").strip())
    return wanted is not None and (_close(wanted, number, decimals) or _close(wanted, number * 100, decimals))


def _close(wanted: float, found: float, decimals: int) -> bool:
    if math.isclose(wanted, found, rel_tol=_CLOSE, abs_tol=_TINY):
        return True
    return decimals > 0 and abs(wanted - found) <= 0.5 * 10**-decimals * (1 + _TINY)


def _whole(value: Any) -> int | None:
    if isinstance(value, str):
        text = value.strip().replace(",", "")
        return int(text) if _WHOLE.fullmatch(text) and _NUMBER.fullmatch(value.strip()) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = unicodedata.normalize("NFKC", value).strip().replace("−", "-")
        value = float(text.replace(",", "")) if _NUMBER.fullmatch(text) else None
    if isinstance(value, int | float):
        # An integer of hundreds of digits has no float.
        number = float(value) if abs(value) < 1e300 else math.inf
        return number if math.isfinite(number) else None
    return None


def _decimals(value: Any) -> int:
    """How exactly the expected number is given; a whole number is exact."""
    text = value.strip() if isinstance(value, str) else repr(value)
    mantissa, _, exponent = text.lower().partition("e")
    return 0 if exponent else len(mantissa.partition(".")[2])


def _plain(text: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    midnight = _MIDNIGHT.fullmatch(folded)
    return midnight[1] if midnight else folded


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _WORDS.get(_plain(value)) if isinstance(value, str) else None


def _says(rows: list[list[Any]], text: str) -> bool | None:
    """A single boolean decides; else the first word of the answer."""
    if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], bool):
        return rows[0][0]
    lead = _LEAD.match(text)
    return _WORDS[lead[1].lower()] if lead else None
