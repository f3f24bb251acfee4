"""Numbers in a question that compare something: `over 50`, `at least 3 stars`, `between 10 and 20`, `rating of 4`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sandtable.planner.language.reading import Reading
from sandtable.planner.language.words import Number, parse_number, read_number

_MORE = (
    "more|greater|higher|larger|bigger|longer|later|older|taller|heavier|better|hotter|warmer|faster|farther|"
    "further|newer"
)
_LESS = "less|fewer|lower|smaller|shorter|younger|lighter|cheaper|earlier|slower|colder|worse"
_OPERATORS: tuple[tuple[str, str], ...] = (
    (r"(?:is |are |was |were )?(?:at least|no less than|not less than|no fewer than|not fewer than|a minimum of|"
     r"minimum of|no lower than|not below|> =|≥|greater than or equal to|more than or equal to)", ">="),
    (r"(?:is |are |was |were )?(?:at most|no more than|not more than|no higher than|not exceeding|up to|"
     r"a maximum of|maximum of|not above|not over|< =|≤|less than or equal to|fewer than or equal to)", "<="),
    (r"(?:not equal to|! =|< >|other than)", "!="),
    (rf"(?:is |are |was |were )?(?:{_MORE})(?: [a-z]+)? than", ">"),
    (r"(?:is |are |was |were )?(?:strictly )?(?:over|above|exceeds?|exceeded|exceeding|beyond|upwards of|"
     r"surpass(?:es|ed|ing)?|>|greater|after)", ">"),
    (rf"(?:is |are |was |were )?(?:{_LESS})(?: [a-z]+)? than", "<"),
    (r"(?:is |are |was |were )?(?:strictly )?(?:under|below|beneath|<|before|prior to)", "<"),
    (r"(?:is |are |was |were )?(?:exactly|equal to|equals?|equalling|= =|=|precisely)", "="),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern + r"(?= |$)"), op) for pattern, op in _OPERATORS)
_BETWEEN = re.compile(r"(?:is |are |was |were )?(?:between|from|ranging from|in the range(?: of)?)(?= |$)")
_OR_MORE = re.compile(
    r"(?:or (?:more|higher|above|greater|over|older|longer|later|better|bigger|larger)"
    r"|and (?:above|up|over|more|higher)(?! \w* ?than)|\+)(?= |$)"
)
_OR_LESS = re.compile(
    r"(?:or (?:less|fewer|lower|below|under|younger|shorter|earlier|smaller|cheaper)"
    r"|and (?:below|under|less)(?! than))(?= |$)"
)
_PASSED = frozenset({"a", "an", "the", "of", "about"})


@dataclass(frozen=True, slots=True)
class Comparison:
    start: int
    end: int
    op: str
    numbers: tuple[Number, ...]
    adjective: str = ""
    """The comparative in it (`older`), which may determine the column."""
    plain: bool = False
    """No comparing word: it is an equality only if a column stands beside it."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A comparing word that no number follows: two columns may be compared."""

    start: int
    end: int
    op: str


def find_comparisons(reading: Reading) -> list[Comparison]:
    """Every number that is still free, with the words that say how to compare with it."""
    found: list[Comparison] = []
    at = 0
    while at < len(reading):
        comparison = _worded(reading, at) or _bare(reading, at)
        if comparison is None:
            at += 1
            continue
        found.append(comparison)
        at = comparison.end
    return found


def find_operators(reading: Reading) -> list[Operator]:
    found: list[Operator] = []
    for at in range(len(reading)):
        if found and at < found[-1].end:
            continue
        for pattern, op in _COMPILED:
            hit = reading.match_at(pattern, at)
            if hit and reading.free(at, hit[0]):
                found.append(Operator(at, hit[0], op))
                break
    return found


def _number(reading: Reading, at: int) -> Number | None:
    while reading.lower(at) in _PASSED:
        at += 1
    return _free_number(reading, at)


def _free_number(reading: Reading, at: int) -> Number | None:
    """The number here, without what belongs to a column's name: `40 % of vote`, `8 million viewers`."""
    number = read_number(reading.words, at) if at < len(reading) else None
    if number is None or reading.free(number.start, number.end):
        return number
    if number.percent and reading.free(number.start, number.end - 1):
        return replace(number, end=number.end - 1, percent=False)
    plain = parse_number(reading.lower(at))
    if plain is not None and reading.free(at, at + 1):
        return Number(plain, at, at + 1)
    return None


def _worded(reading: Reading, at: int) -> Comparison | None:
    if not reading.free(at, at + 1):
        return None
    between = reading.match_at(_BETWEEN, at)
    if between:
        low = _number(reading, between[0])
        if low and reading.lower(low.end) in {"and", "to", "-", "–"}:
            high = _number(reading, low.end + 1)
            if high:
                return Comparison(at, high.end, "between", (low, high))
        return None
    for pattern, op in _COMPILED:
        hit = reading.match_at(pattern, at)
        if hit is None:
            continue
        number = _number(reading, hit[0])
        if number is None:
            continue
        words = hit[1].group().split()
        adjective = words[-2] if words[-1] == "than" and len(words) > 1 else ""
        return Comparison(at, number.end, op, (number,), adjective)
    return None


def _bare(reading: Reading, at: int) -> Comparison | None:
    if not reading.free(at, at + 1):
        return None
    number = _free_number(reading, at)
    if number is None:
        return None
    if number.spelled and number.value == 1 and number.end == at + 1:
        return None
    for pattern, op in ((_OR_MORE, ">="), (_OR_LESS, "<=")):
        hit = reading.match_at(pattern, number.end) or reading.match_at(pattern, number.end + 1)
        if hit:
            return Comparison(at, hit[0], op, (number,))
    return Comparison(at, number.end, "=", (number,), plain=True)
