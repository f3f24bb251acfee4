"""Dates and times in PostgreSQL: periods, parts, and the time between two moments.

Invariant: a date is made a timestamp before a function gets it. Otherwise PostgreSQL would make a moment of the
session's time zone of it.
"""

from __future__ import annotations

from sqlglot import exp

from sandtable.engines import nodes as n
from sandtable.engines.postgres.words import by_bytes
from sandtable.engines.spelling import Operand

_PARTS = {"day_of_week": "ISODOW", "month_of_year": "MONTH", "hour_of_day": "HOUR"}
_NAMES = {"day_name": "FMDay", "month_name": "FMMonth"}
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def stamp(node: exp.Expr) -> exp.Expr:
    return exp.cast(node, exp.DType.TIMESTAMP)


def period(unit: str, moment: exp.Expr, shift: int) -> exp.Expr:
    """PostgreSQL's weeks begin on Monday and its years in January: others are cut in time that is moved there, and
    moved back."""
    count, step = (shift, "DAY") if unit == "week" else (-shift, "MONTH")
    return n.later(_cut(unit, n.later(stamp(moment), count, step)), -count, step)


def part(unit: str, moment: exp.Expr) -> exp.Expr:
    if unit in _PARTS:
        return exp.cast(_extracted(_PARTS[unit], moment), exp.DType.BIGINT)
    if unit in _NAMES:
        return by_bytes(n.function("TO_CHAR", stamp(moment), exp.Literal.string(_NAMES[unit])))
    hour = exp.cast(exp.cast(_extracted("HOUR", moment), exp.DType.INT), exp.DType.TEXT)
    padded = n.function("LPAD", hour, n.number(2), exp.Literal.string("0"))
    return by_bytes(n.function("CONCAT", padded, exp.Literal.string(":00")))


def complete(unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """Backwards, it is what it is forwards, with a minus."""
    forwards = _complete_months(start, end)
    backwards = exp.Neg(this=exp.Paren(this=_complete_months(end, start)))
    ordered = exp.LTE(this=n.grouped(start.copy()), expression=n.grouped(end.copy()))
    months = exp.Case(ifs=[exp.If(this=ordered, true=forwards)], default=backwards)
    return _whole_part(months, _MONTHS[unit]) if _MONTHS[unit] > 1 else months


def between_days(unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
    days = exp.cast(_minus(end, start), exp.DType.BIGINT)
    count = _SECONDS["day"] // _SECONDS[unit]
    return exp.Mul(this=days, expression=n.number(count)) if count > 1 else days


def exactly(unit: str, start: Operand, end: Operand) -> exp.Expr:
    ends = [each.node if each.type() == "TIME" else stamp(each.node) for each in (end, start)]
    seconds = exp.cast(_extracted("EPOCH", _minus(*ends)), exp.DType.DOUBLE)
    return exp.Div(this=seconds, expression=n.number(_SECONDS[unit]))


def crossed(unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """Beginnings of periods between two moments."""
    if unit in _MONTHS:
        months = _minus(_month_number(unit, end), _month_number(unit, start))
        return exp.cast(months, exp.DType.BIGINT)
    apart = _minus(_cut(unit, stamp(end)), _cut(unit, stamp(start)))
    seconds = exp.cast(_extracted("EPOCH", apart), exp.DType.BIGINT)
    return _whole_part(seconds, _SECONDS[unit])


def _cut(unit: str, node: exp.Expr) -> exp.Expr:
    return n.function("DATE_TRUNC", exp.Literal.string(unit), node)


def _whole_part(node: exp.Expr, divisor: int) -> exp.Expr:
    """Of whole numbers, without a rest."""
    return exp.Div(this=node, expression=n.number(divisor), typed=True)


def _extracted(field: str, node: exp.Expr) -> exp.Expr:
    return exp.Extract(this=exp.var(field), expression=node.copy())


def _minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=n.grouped(left.copy()), expression=n.grouped(right.copy()))


def _month_number(unit: str, node: exp.Expr) -> exp.Expr:
    """How many months, quarters or years there were before a moment's own one."""
    year = _extracted("YEAR", stamp(node.copy()))
    if unit == "year":
        return year
    inside = _extracted(unit.upper(), stamp(node.copy()))
    of_years = exp.Mul(this=year, expression=n.number(_MONTHS["year"] // _MONTHS[unit]))
    return exp.Add(this=of_years, expression=inside)


def _complete_months(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """A month is complete on the day of the month on which it began, or on the last one of a month without it."""
    apart = crossed("month", start, end)
    month = exp.Interval(this=n.number(1), unit=exp.var("MONTH"))
    reached = exp.Add(this=stamp(start.copy()), expression=exp.Mul(this=apart.copy(), expression=month))
    late = exp.GT(this=reached, expression=stamp(end.copy()))
    missing = exp.Case(ifs=[exp.If(this=late, true=n.number(1))], default=n.number(0))
    return exp.Sub(this=apart, expression=missing)
