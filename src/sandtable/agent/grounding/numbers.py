"""A number as a text writes it, and whether a cell confirms it.

Invariant: a number may be rounded to the digits that are written, never a whole number without its scale (12k), and
never further from the cell than `MOST_OFF` of it. Unit and percent sign must be those of the column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from sandtable.plan.units import FRACTION, PERCENT
from sandtable.wording.field import Field, Row

MOST_OFF = Decimal("0.05")

_SCALES = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "mn": 10**6, "million": 10**6,
    "b": 10**9, "bn": 10**9, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
NUMBER = re.compile(
    r"""(?P<sign>[-−])?(?P<before>[€$£¥])?(?P<late_sign>[-−])?
        (?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?![\d,]*\d)
        (?:\s?(?P<scale>k|m|mn|bn|b|thousand|million|billion|trillion)(?![a-z]))?
        (?:\s?(?P<percent>%|percent(?![a-z])|per\ cent(?![a-z])))?""",
    re.VERBOSE | re.IGNORECASE,
)
_SHOWN_NUMBER = re.compile(r"[-−]?[\d.,]*\d")


@dataclass(frozen=True, slots=True)
class Claim:
    value: Decimal
    step: Decimal
    """What one step of the last written digit is worth."""
    percent: bool
    marks: frozenset[str] = frozenset()
    """Currency sign and unit, as they are written beside it."""


def claim_of(found: re.Match[str], unit: str = "") -> Claim | None:
    """None if it is not a number."""
    negative = bool(found["sign"]) != bool(found["late_sign"])
    try:
        value = Decimal(("-" if negative else "") + found["digits"].replace(",", ""))
    except InvalidOperation:
        return None
    factor = _SCALES.get((found["scale"] or "").lower(), 1)
    step = Decimal(1).scaleb(int(value.as_tuple().exponent))
    marks = frozenset(mark.lower() for mark in (found["before"], unit) if mark)
    return Claim(value * factor, step * factor, bool(found["percent"]), marks)


def marks_of(field: Field, row: Row) -> frozenset[str]:
    """What may stand beside the number of this cell: what the plain sentence shows there."""
    shown = _SHOWN_NUMBER.sub(" ", field.show(row)).replace("−", " ").lower()
    return frozenset(shown.split()) - {"%"}


def bears_out(field: Field, row: Row, claim: Claim, *, lost: bool = False) -> bool:
    """Whether the cell is what is claimed. `lost`: the text says that it fell by so much."""
    number = field.number(row)
    if number is None or not claim.marks <= marks_of(field, row):
        return False
    if claim.percent:
        if field.unit not in (FRACTION, PERCENT):
            return False
        number = number * 100 if field.unit == FRACTION else number
    return _rounds_to(-number if lost else number, claim)


def same(one: Claim, other: Claim) -> bool:
    return (one.value, one.percent) == (other.value, other.percent)


def _rounds_to(exact: Decimal, claim: Claim) -> bool:
    if exact == claim.value:
        return True
    if exact == exact.to_integral_value() and claim.step <= 1:
        return False
    off = abs(exact - claim.value)
    return off * 2 <= claim.step and off <= abs(exact) * MOST_OFF
