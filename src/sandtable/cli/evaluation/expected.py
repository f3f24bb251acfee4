"""Whether a result is one of the expected answers. Pure; the rules are in docs/evaluating.md.

Invariant: a result is right as a whole or not at all. Rows must be exactly those expected. Their order counts only
if the question asks for it, the order of columns never. At most two extra columns are allowed, unless whole rows
answer the question too.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sandtable.errors import InvalidInput

Rows = Sequence[Sequence[Any]]

MOST_BESIDE = 2
"""Extra columns may label a value; in a wide row any value could be found by chance."""
_CLOSE = 1e-6
_TINY = 1e-9
_FEWEST_DECIMALS = 2
"""Minimum of decimals for a found number to count as the rounded form of the expected one."""

_NUMBER = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d{1,400}")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[t ]00:00(?::00(?:\.0+)?)?(?:z|\+00:00)?")
_FIRST_OF_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-01")
_LEAD = re.compile(r"[\W_]*(yes|no|true|false)\b", re.IGNORECASE)
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_LETTERS = {"y": True, "n": False}
_MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)


def check_expected(answer: Any) -> None:
    """Raises InvalidInput for an expected answer that cannot be compared."""
    if answer is None or _is_scalar(answer):
        return
    if isinstance(answer, list):
        if all(_is_scalar(value) for value in answer):
            return
        rows = all(isinstance(row, list) and len(row) == len(answer[0]) > 0 for row in answer)
        if rows and all(value is None or _is_scalar(value) for row in answer for value in row):
            return
    raise InvalidInput(
        "`answer` is neither a value, nor a list of values, nor a list of rows of one length",
        suggestion='Write 42, "Germany", true, ["a", "b"] or [["a", 1], ["b", 2]].',
    )


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))


@dataclass(frozen=True, slots=True)
class Expected:
    answers: tuple[Any, ...]
    """Any one of them is right: a value, a list of values or a list of rows."""
    ordered: bool = False
    """Whether the order of the rows is part of the answer."""
    beside: int | None = MOST_BESIDE
    """How many extra columns are allowed; None for any number."""
    rounded: bool = False
    """Whether an expected number with decimals accepts every number that rounds to it."""

    def accepts(self, rows: Rows | None, text: str = "") -> bool:
        """Compares the rows and the sentence of an answer with every expected answer."""
        return any(self._is(answer, rows, text) for answer in self.answers)

    def _is(self, answer: Any, rows: Rows | None, text: str) -> bool:
        found = [list(row) for row in rows or ()]
        truth = _truth(answer, _WORDS)
        if truth is not None and _says(found, text) is truth:
            return True
        return rows is not None and any(self._fits(shape, found) for shape in _shapes(answer))

    def _fits(self, expected: list[list[Any]], found: list[list[Any]]) -> bool:
        if len(expected) != len(found):
            return False
        if not expected:
            return True
        width, wide = len(expected[0]), len(found[0])
        if wide < width or (self.beside is not None and wide > width + self.beside):
            return False
        columns = [[[cell] for cell in column] for column in zip(*found, strict=True)]
        places = [
            [place for place in range(wide) if self._same_rows([[cell] for cell in column], columns[place])]
            for column in zip(*expected, strict=True)
        ]
        return all(places) and self._placed(expected, found, places, ())

    def _placed(
        self,
        expected: list[list[Any]],
        found: list[list[Any]],
        places: list[list[int]],
        chosen: tuple[int, ...],
    ) -> bool:
        """Whether the first expected columns are those at `chosen`, and the rest of them are at other places."""
        width = len(chosen)
        picked = [[row[place] for place in chosen] for row in found]
        if not self._same_rows([row[:width] for row in expected], picked):
            return False
        if width == len(places):
            return True
        tried: list[list[Any]] = []
        for place in places[width]:
            column = [row[place] for row in found]
            # Of equal columns only one is tried: otherwise the number of combinations would grow with each of them.
            if place in chosen or column in tried:
                continue
            tried.append(column)
            if self._placed(expected, found, places, (*chosen, place)):
                return True
        return False

    def _same_rows(self, expected: list[list[Any]], found: list[list[Any]]) -> bool:
        left = list(found)
        for wanted in expected:
            at = next((n for n, row in enumerate(left) if self._same_row(wanted, row)), None)
            if at is None or (self.ordered and at > 0):
                return False
            del left[at]
        return True

    def _same_row(self, expected: list[Any], found: list[Any]) -> bool:
        return all(same(a, b, rounded=self.rounded) for a, b in zip(expected, found, strict=True))


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


def same(expected: Any, found: Any, *, rounded: bool = False) -> bool:
    """One value. Text that is a number is that number, on either side."""
    if expected is None or found is None:
        return expected is found
    if isinstance(expected, bool) or isinstance(found, bool):
        truth = _truth(expected, _WORDS | _LETTERS)
        return truth is not None and truth is _truth(found, _WORDS | _LETTERS)
    if _whole(expected) is not None and _whole(found) is not None:
        # A tolerance would make neighbouring large counts and ids equal.
        return _whole(expected) == _whole(found)
    wanted, number = _number(expected), _number(found)
    if number is not None:
        if wanted is not None:
            return _agree(expected, wanted, found, number, rounded)
        if isinstance(expected, str) and expected.strip().endswith("%"):
            return _same_percent(expected.strip().removesuffix("%").strip(), number)
    left, right = _folded(expected), _folded(found)
    return left == right or right in _names(left) or left in _names(right)


def _same_percent(expected: str, number: float) -> bool:
    """`14.2 %` may be found as 14.2 or as 0.142."""
    wanted = _number(expected)
    return wanted is not None and any(
        _agree(expected, wanted, each, each, rounded=True) for each in (number, number * 100)
    )


def _agree(expected: Any, wanted: float, found: Any, number: float, rounded: bool) -> bool:
    if math.isclose(wanted, number, rel_tol=_CLOSE, abs_tol=_TINY):
        return True
    decimals = _decimals(found)
    if decimals >= _FEWEST_DECIMALS and _rounds(wanted, number, decimals):
        return True
    decimals = _decimals(expected)
    return rounded and decimals > 0 and _rounds(number, wanted, decimals)


def _rounds(exact: float, short: float, decimals: int) -> bool:
    return abs(exact - short) <= 0.5 * 10**-decimals * (1 + _TINY)


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
    """The number of written decimals; 0 for a whole number or one with an exponent."""
    text = value.strip() if isinstance(value, str) else repr(value)
    mantissa, _, exponent = text.lower().partition("e")
    return 0 if exponent else len(mantissa.partition(".")[2])


def _folded(value: Any) -> str:
    text = " ".join(unicodedata.normalize("NFKC", str(value)).casefold().split())
    midnight = _MIDNIGHT.fullmatch(text)
    return midnight[1] if midnight else re.sub(r"(?<=\d)t(?=\d)", " ", text)


def _names(day: str) -> Iterator[str]:
    """What a period that begins on this day may be called."""
    found = _FIRST_OF_MONTH.fullmatch(day)
    if found is None:
        return
    year, month = found[1], int(found[2])
    word = _MONTHS[month - 1]
    yield from (f"{year}-{month:02d}", f"{word} {year}", f"{word[:3]} {year}", f"{year} {word}")
    if month % 3 == 1:
        quarter = month // 3 + 1
        yield from (f"q{quarter} {year}", f"{year} q{quarter}", f"{year}-q{quarter}", f"{year}q{quarter}")
    if month == 1:
        yield year


def _truth(value: Any, words: dict[str, bool]) -> bool | None:
    if isinstance(value, bool):
        return value
    return words.get(_folded(value)) if isinstance(value, str) else None


def _says(rows: list[list[Any]], text: str) -> bool | None:
    """Yes or no: a single boolean in the rows decides; otherwise the first word of the answer."""
    if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], bool):
        return rows[0][0]
    lead = _LEAD.match(text)
    return _WORDS[lead[1].lower()] if lead else None
