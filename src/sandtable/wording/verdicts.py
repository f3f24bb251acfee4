"""Yes or no, if the question asks for it and the rows decide it.

Invariant: the verdict never contradicts the numbers it stands before; what the question asks is read in `questions`,
and where that leaves a doubt there is no verdict.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from sandtable.wording import questions
from sandtable.wording.field import NUMBERS, Field, Row
from sandtable.wording.groups import points_of
from sandtable.wording.result import Result
from sandtable.wording.series import ends_of, is_series

Verdict = Literal["Yes", "No"]

_OPENINGS = frozenset("The There For Only All Among None In Since From Here Some This Last Where".split())
_SEXES = (
    ("male", "m", "man", "men", "boys", "gentlemen"),
    ("female", "f", "woman", "women", "girls", "ladies"),
)
_WORD = re.compile(r"\w+")
_ROSE = re.compile(
    r"\b(?:rise|rising|rose|risen|grow|growing|grown|grew|increas\w*|go(?:ne|ing)? up|went up)\b", re.I
)
_FELL = re.compile(
    r"\b(?:fall|falling|fell|fallen|drop\w*|decreas\w*|declin\w*|shrink\w*|shrank|shrunk|go(?:ne|ing)? down|"
    r"went down)\b",
    re.IGNORECASE,
)


def led_by(verdict: Verdict, text: str, measure: Field | None) -> str:
    """The verdict in front of the sentence."""
    first, _, rest = text.partition(" ")
    opening = {*_OPENINGS, *([measure.text.split(" ")[0].capitalize()] if measure else [])}
    return f"{verdict}, {first.lower() if first in opening else first} {rest}"


def verdict(result: Result, measure: Field | None) -> Verdict | None:
    question = result.question
    if not questions.asks(question) or not result.rows:
        return None
    if len(result.rows) == 1 and result.tested is not None:
        return _of_tested(result, result.tested)
    listed = result.keys and (result.looked_for or not result.grouped)
    if listed and questions.asks_any(question) and not questions.loose_numbers(question, result.spent):
        return "Yes"
    if measure is None or result.truncated:
        return None
    if len(result.rows) == 1 and not result.keys:
        return _of_value(result, measure)
    trend = _of_trend(result, measure) if is_series(result) and len(result.keys) == 1 else None
    if trend is not None:
        return trend
    return _of_two(result, measure) if len(result.rows) == 2 and not result.cut else None


def _of_tested(result: Result, field: Field) -> Verdict | None:
    """Whether the first row meets the condition in the question."""
    number = field.number(result.rows[0])
    return None if number is None or questions.denies(result.question) else _yes(number > 0)


def _of_value(result: Result, measure: Field) -> Verdict | None:
    values = [field for field in result.measures if field.type in NUMBERS]
    if len(values) == 2:
        return _of_pair(result, *values)
    number = measure.number(result.rows[0])
    if number is None or len(values) != 1:
        return None
    part = questions.part_of(result.question)
    if part is not None:
        return _of_part(part, number) if measure.unit == "fraction" else None
    bounds = questions.bounds_of(result.question, result.spent)
    if bounds and not result.planned and not questions.asks_of_value(result.question):
        # The number may be a condition of the SQL.
        return None
    if len(bounds) == 1:
        return _of_bound(bounds[0], number, measure)
    return None if bounds else _of_count(result, measure, number)


def _of_part(part: questions.Part, share: Decimal) -> Verdict:
    return _yes(share == 1 if part == "all" else share > Decimal("0.5"))


def _of_bound(bound: questions.Bound, number: Decimal, measure: Field) -> Verdict:
    share = measure.unit == "fraction" and (bound.percent or bound.number > 1)
    return _yes(bound.test(number, bound.number.scaleb(-2) if share else bound.number))


def _of_count(result: Result, measure: Field, number: Decimal) -> Verdict | None:
    """Above zero is yes to "any" and to a question about one thing; zero is no to every plain question."""
    question = result.question
    if not measure.counts or not result.looked_for or questions.loose_numbers(question, result.spent):
        return None
    if number > 0:
        return "Yes" if questions.asks_any(question) or questions.asks_of_one(question) else None
    return "No" if questions.is_plain(question) else None


def _of_trend(result: Result, measure: Field) -> Verdict | None:
    rises, falls = bool(_ROSE.search(result.question)), bool(_FELL.search(result.question))
    ends = ends_of(result, measure)
    if rises == falls or ends is None or result.cut:
        return None
    first, last = ends
    return _yes(last > first if rises else last < first)


def _of_two(result: Result, measure: Field) -> Verdict | None:
    """ "Is A higher than B?": which of the two rows is named before "than", and which after."""
    points = points_of(result, measure)
    sides = questions.sides_of(result.question, measure.text)
    if sides is None or len(points) != 2 or not result.keys:
        return None
    names = [_names(result, row) for row, _ in points]
    return _compared(sides, names, [number for _, number in points])


def _names(result: Result, row: Row) -> list[str]:
    """What a row may be called in the question: a class of 1 is "class 1" there."""
    key = result.keys[0]
    number = key.number(row) if len(result.keys) == 1 and not key.bucket else None
    name = result.label(row).lower() if number is None else f"{number.normalize():f}"
    return [name, f"{name}s", *next((same for same in _SEXES if name in same), ())]


def _of_pair(result: Result, one: Field, other: Field) -> Verdict | None:
    """The same for two columns of one row, distinguished by the words that only one of them has."""
    row = result.rows[0]
    first, second = one.number(row), other.number(row)
    sides = questions.sides_of(result.question, one.text)
    if sides is None or first is None or second is None:
        return None
    words, others = (_WORD.findall(field.text.lower()) for field in (one, other))
    own = [word for word in words if word not in others]
    theirs = [word for word in others if word not in words]
    return _compared(sides, [own, theirs], [first, second])


def _compared(sides: questions.Sides, names: list[list[str]], numbers: list[Decimal]) -> Verdict | None:
    """Only where one of the two is named on the one side, and the other one on the other."""
    before = [at for at, called in enumerate(names) if any(_mentions(sides.before, name) for name in called)]
    after = [at for at, called in enumerate(names) if any(_mentions(sides.after, name) for name in called)]
    if len(before) != 1 or len(after) != 1 or before == after:
        return None
    return _yes(sides.test(numbers[before[0]], numbers[after[0]]))


def _mentions(text: str, name: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))


def _yes(holds: bool) -> Verdict:
    return "Yes" if holds else "No"
