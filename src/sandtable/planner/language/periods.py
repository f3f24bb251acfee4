"""Calendar arithmetic: years, quarters, months, weeks and days as whole periods."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days, both ends included."""

    first: dt.date
    last: dt.date
    unit: str
    """day, week, month, quarter, half, year or range."""

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


def around(date: dt.date, unit: str, offset: int = 0) -> Period:
    """The whole unit that holds a day, or one `offset` units later."""
    if unit == "year":
        return year(date.year + offset)
    if unit == "quarter":
        moved = _add_months(date.replace(day=1), 3 * offset)
        return quarter(moved.year, (moved.month + 2) // 3)
    if unit == "month":
        moved = _add_months(date.replace(day=1), offset)
        return month(moved.year, moved.month)
    if unit == "week":
        monday = date - dt.timedelta(days=date.weekday()) + dt.timedelta(weeks=offset)
        return Period(monday, monday + dt.timedelta(days=6), "week")
    return day(date + dt.timedelta(days=offset))


def _add_months(date: dt.date, months: int) -> dt.date:
    number = date.year * 12 + date.month - 1 + months
    return dt.date(number // 12, number % 12 + 1, date.day)
