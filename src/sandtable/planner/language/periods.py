"""Calendar arithmetic: years, quarters, months, weeks and days as whole periods."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from sandtable.catalog.calendar import USUAL
from sandtable.catalog.calendar import Calendar as Rules


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days, both ends included."""

    first: dt.date
    last: dt.date
    unit: str
    """day, week, month, quarter, half, year, fiscal_quarter, fiscal_year or range."""

    @property
    def window(self) -> dict[str, str]:
        return {"from": self.first.isoformat(), "to": self.last.isoformat()}

    def joined(self, other: Period) -> Period:
        return Period(min(self.first, other.first), max(self.last, other.last), "range")


def year(number: int) -> Period:
    return Period(dt.date(number, 1, 1), dt.date(number, 12, 31), "year")


def month(year_number: int, number: int) -> Period:
    first = dt.date(year_number, number, 1)
    return Period(first, _add_months(first, 1) - dt.timedelta(days=1), "month")


def quarter(year_number: int, number: int) -> Period:
    first = dt.date(year_number, 3 * number - 2, 1)
    return Period(first, _add_months(first, 3) - dt.timedelta(days=1), "quarter")


def half(year_number: int, number: int) -> Period:
    first = dt.date(year_number, 6 * number - 5, 1)
    return Period(first, _add_months(first, 6) - dt.timedelta(days=1), "half")


def day(date: dt.date) -> Period:
    return Period(date, date, "day")


def fiscal_year(number: int, rules: Rules) -> Period:
    last = rules.fiscal_year_start(number + 1) - dt.timedelta(days=1)
    return Period(rules.fiscal_year_start(number), last, "fiscal_year")


def fiscal_quarter(year_number: int, number: int, rules: Rules) -> Period:
    first = rules.fiscal_quarter_start(year_number, number)
    return Period(first, _add_months(first, 3) - dt.timedelta(days=1), "fiscal_quarter")


def around(date: dt.date, unit: str, offset: int = 0, rules: Rules = USUAL) -> Period:
    """The whole unit that holds a day, or one `offset` units later."""
    if unit == "fiscal_year":
        return fiscal_year(rules.fiscal_year(date) + offset, rules)
    if unit == "fiscal_quarter":
        moved = _add_months(date.replace(day=1), 3 * offset)
        return fiscal_quarter(rules.fiscal_year(moved), rules.fiscal_quarter(moved), rules)
    if unit == "year":
        return year(date.year + offset)
    if unit == "quarter":
        moved = _add_months(date.replace(day=1), 3 * offset)
        return quarter(moved.year, (moved.month + 2) // 3)
    if unit == "month":
        moved = _add_months(date.replace(day=1), offset)
        return month(moved.year, moved.month)
    if unit == "week":
        first = rules.week(date) + dt.timedelta(weeks=offset)
        return Period(first, first + dt.timedelta(days=6), "week")
    return day(date + dt.timedelta(days=offset))


def of_window(window: dict[str, Any], today: str | None, rules: Rules = USUAL) -> Period | None:
    """The whole period that a window of the plan language keeps."""
    try:
        first = dt.date.fromisoformat(str(window["from"])[:10])
        last = dt.date.fromisoformat(str(window["to"])[:10])
    except (KeyError, ValueError):
        which, _, unit = str(window.get("period", "")).partition("_")
        if today is None or which not in {"this", "last"}:
            return None
        return around(dt.date.fromisoformat(today[:10]), unit, 0 if which == "this" else -1, rules)
    units = ("year", "quarter", "month", "week", "day")
    if rules.fiscal_month is not None:
        units += ("fiscal_year", "fiscal_quarter")
    whole = (around(first, unit, rules=rules) for unit in units)
    return next((p for p in whole if (p.first, p.last) == (first, last)), None)


def nearest(said: Period, mine: Period) -> Period:
    """A month or quarter without a year: that of the year that was mentioned, else the one nearest to the period."""
    if said.unit not in {"month", "quarter"}:
        return said
    years = (mine.first.year, mine.first.year - 1, mine.first.year + 1)
    if mine.unit == "year":
        years = years[:1]
    options = [around(said.first.replace(year=number, day=1), said.unit) for number in years]
    return min(options, key=lambda p: abs((p.first - mine.first).days))


def earlier(mine: Period, unit: str) -> Period | None:
    """The month, quarter or year before a period; the same month or quarter a year before."""
    if mine.unit in {"fiscal_year", "fiscal_quarter"}:
        back = {"year": 12, "fiscal_year": 12, "quarter": 3, "fiscal_quarter": 3}.get(unit, 0)
        if not back or (back == 3 and mine.unit == "fiscal_year"):
            return None
        last = _add_months(mine.last + dt.timedelta(days=1), -back) - dt.timedelta(days=1)
        return Period(_add_months(mine.first, -back), last, mine.unit)
    if unit == mine.unit == "week":
        week = dt.timedelta(weeks=1)
        return Period(mine.first - week, mine.last - week, "week")
    if unit == mine.unit:
        return around(mine.first, unit, -1)
    if unit == "year" and mine.unit in {"month", "quarter"}:
        return around(mine.first.replace(year=mine.first.year - 1, day=1), mine.unit)
    return None


def _add_months(date: dt.date, months: int) -> dt.date:
    number = date.year * 12 + date.month - 1 + months
    return dt.date(number // 12, number % 12 + 1, date.day)
