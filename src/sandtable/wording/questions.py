"""What a yes/no question asks: whether there is any, whether all are, a comparison with a number or of two sides.

Invariant: what cannot be read with certainty is None. Verdicts are made from these readings, and a wrong verdict is
worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Literal

from sandtable.wording.figures import number_of

Test = Callable[[Decimal, Decimal], bool]
Part = Literal["all", "most"]

_AUXILIARY = r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could)\b"
_ASKS = re.compile(_AUXILIARY, re.IGNORECASE)
_DENIES = re.compile(
    rf"{_AUXILIARY} there (?:no|not|none)\b(?! (?:more|fewer|less|higher|lower)\b)"
    r"|\b(?:nobody|no one|none|nothing|never|neither)\b|n't\b",
    re.IGNORECASE,
)
_ANY = re.compile(
    rf"{_AUXILIARY} there\b|\b(?:any|anyone|anybody|anything|someone|somebody|at least one)\b|^\W*(?:do|did) we have\b",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"^\W*(?:is|was|does|has)\b|^\W*(?:did|had|can|could) (?:the )?(?!\w+s\b)\w.* an?\b", re.IGNORECASE
)
"""About a single thing, or whether a thing was done once: one row that fits is enough."""
_VALUE = re.compile(
    r"^\W*(?:is|was|are|were) (?:the |our |its |their )?(?:\w+ )?"
    r"(?:average|mean|median|total|sum|share|rate|percentage|maximum|minimum)\b",
    re.IGNORECASE,
)
_QUALIFIED = re.compile(
    r"\b(?:all(?<!\bat all)|every|everyone|everybody|everything|each|both|only|exactly|just|always|mostly|usually|"
    r"generally|half|majority|same|equal|(?<!at )most|often|least(?<!at least))\b",
    re.IGNORECASE,
)
_PARTS: tuple[tuple[re.Pattern[str], Part], ...] = (
    (re.compile(rf"{_AUXILIARY} (?:all|every|each|everyone|everybody|everything)\b", re.IGNORECASE), "all"),
    (
        re.compile(
            rf"{_AUXILIARY} (?:most\b|(?:the |a )?majority\b|(?:more than|over) (?:a )?half\b)", re.IGNORECASE
        ),
        "most",
    ),
)
_NUMBER = (
    r"(?:[€$£]\s*)?(?P<number>-?\d[\d,]*(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"(?:\s*(?P<unit>%|percent|k\b|thousand|m\b|million|bn\b|billion))?(?![\w-])"
)
_MORE = "more|higher|greater|larger|longer|bigger|taller|heavier|richer|wealthier|older"
_LESS = "less|lower|fewer|smaller|shorter|lighter|poorer|cheaper|younger"
_TESTS: tuple[tuple[re.Pattern[str], Test], ...] = tuple(
    (re.compile(rf"(?<!no )(?<!not )\b(?:{words})\s+{_NUMBER}", re.IGNORECASE), test)
    for words, test in (
        (rf"(?:{_MORE}) than|above|over|exceed(?:s|ed|ing)?", gt),
        (rf"at least|(?:no|not) (?:{_LESS}) than", ge),
        (rf"(?:{_LESS}) than|below|under", lt),
        (rf"at most|(?:no|not) (?:{_MORE}) than|up to", le),
    )
)
_SCALES = {"k": 3, "thousand": 3, "m": 6, "million": 6, "bn": 9, "billion": 9}
_WORDS: dict[str, Decimal] = dict(
    zip("one two three four five six seven eight nine ten".split(), map(Decimal, range(1, 11)), strict=True)
)
_DIGITS = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")
_THAN = re.compile(
    rf"\b(?<!other )(?<!rather )than\s+(?!{_NUMBER})|\bas (?:many|much|high|low|often)\b", re.IGNORECASE
)
_SIDES: tuple[tuple[re.Pattern[str], Test], ...] = (
    (re.compile(r"^(?P<before>.*\bat least as \w+\b.*?)\bas\b(?P<after>.*)$", re.IGNORECASE), ge),
    (re.compile(rf"^(?P<before>.*\b(?:no|not) (?:{_LESS})\b.*)\bthan\b(?P<after>.*)$", re.IGNORECASE), ge),
    (re.compile(rf"^(?P<before>.*\b(?:no|not) (?:{_MORE})\b.*)\bthan\b(?P<after>.*)$", re.IGNORECASE), le),
    (re.compile(rf"^(?P<before>.*\b(?:{_MORE})\b.*)\bthan\b(?P<after>.*)$", re.IGNORECASE), gt),
    (re.compile(rf"^(?P<before>.*\b(?:{_LESS})\b.*)\bthan\b(?P<after>.*)$", re.IGNORECASE), lt),
)
_AGE = re.compile(r"\b(?:older|younger)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bound:
    """`above 20 %`: a number that the question compares something with."""

    test: Test
    number: Decimal
    percent: bool


@dataclass(frozen=True, slots=True)
class Sides:
    """`more A than B`: what is said on either side, in lower case, and what must hold between them."""

    before: str
    after: str
    test: Test


def asks(question: str) -> bool:
    return bool(_ASKS.search(question))


def denies(question: str) -> bool:
    return bool(_DENIES.search(question))


def part_of(question: str) -> Part | None:
    """Whether all, or most, are said to be something."""
    return next((part for pattern, part in _PARTS if pattern.search(question)), None)


def asks_any(question: str) -> bool:
    """Whether a single row that fits makes it a yes, and none a no."""
    return bool(asks(question) and _ANY.search(question)) and not _is_more_than_any(question)


def asks_of_one(question: str) -> bool:
    return bool(_ONE.search(question)) and not _is_more_than_any(question)


def asks_of_value(question: str) -> bool:
    return bool(_VALUE.search(question))


def _is_more_than_any(question: str) -> bool:
    found = (pattern.search(question) for pattern in (_DENIES, _QUALIFIED, _THAN))
    return any(found)


def is_plain(question: str) -> bool:
    """Whether it contains no negation, no comparison and no "all"."""
    return not _is_more_than_any(question)


def bounds_of(question: str, spent: Collection[Decimal]) -> list[Bound]:
    """The numbers it compares with, but for those that the plan's own conditions hold already."""
    found = [_bound(test, match) for pattern, test in _TESTS for match in pattern.finditer(question)]
    return [bound for bound in found if bound.number not in spent and bound.number.scaleb(-2) not in spent]


def _bound(test: Test, match: re.Match[str]) -> Bound:
    text, unit = match["number"].lower(), (match["unit"] or "").lower()
    number = _WORDS.get(text) or number_of(text.replace(",", "")) or Decimal(0)
    return Bound(test, number.scaleb(_SCALES.get(unit, 0)), unit in ("%", "percent"))


def loose_numbers(question: str, spent: Collection[Decimal]) -> bool:
    """Whether a number of the question is in no condition: then it asks for more than what was looked for."""
    numbers = (number_of(text.replace(",", "")) for text in _DIGITS.findall(question))
    plain = any(n is not None and n not in spent and n.scaleb(-2) not in spent for n in numbers)
    return plain or bool(bounds_of(question, spent))


def sides_of(question: str, measure: str) -> Sides | None:
    """The two sides of a comparison; None for `older` and the like unless the measure is an age."""
    if _DENIES.search(question) or (_AGE.search(question) and "age" not in measure.lower().split()):
        return None
    for pattern, test in _SIDES:
        match = pattern.search(question)
        if match is not None:
            return Sides(match["before"].lower(), match["after"].lower(), test)
    return None
