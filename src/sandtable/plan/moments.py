"""Dates and timestamps as text, and the constant bounds of a time window. Nothing here reads a clock."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from typing import Literal

from sandtable.catalog.calendar import Calendar
from sandtable.plan.windows import LastWindow, PeriodName, PeriodWindow, WindowUnit

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?", re.ASCII
)
_TIME = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?", re.ASCII)

Moment = dt.date | dt.datetime
"""A date stands for the whole day; a datetime is naive, in UTC if the text had an offset."""

_DAY = dt.timedelta(days=1)
_SPANS = {"minute": dt.timedelta(minutes=1), "hour": dt.timedelta(hours=1), "day": _DAY, "week": 7 * _DAY}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}

PeriodUnit = WindowUnit | Literal["fiscal_quarter", "fiscal_year"]


class OutOfCalendar(ValueError):
    """The window reaches beyond the years 1 to 9999."""


def read_moment(text: str) -> Moment | None:
    """An ISO date or timestamp, or None."""
    try:
        if _DATE.fullmatch(text):
            return dt.date.fromisoformat(text)
        if not _TIMESTAMP.fullmatch(text):
            return None
        moment = dt.datetime.fromisoformat(text)
        return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None


def read_time(text: str) -> dt.time | None:
    if not _TIME.fullmatch(text):
        return None
    try:
        return dt.time.fromisoformat(text)
    except ValueError:
        return None


def midnight(day: dt.date) -> dt.datetime:
    return dt.datetime(day.year, day.month, day.day)


def day_of(moment: Moment) -> dt.date:
    return moment.date() if isinstance(moment, dt.datetime) else moment


def is_bare_date(moment: object) -> bool:
    return isinstance(moment, dt.date) and not isinstance(moment, dt.datetime)


def next_day(day: dt.date) -> dt.date:
    try:
        return day + _DAY
    except OverflowError as error:
        raise OutOfCalendar from error


def back(moment: dt.datetime, count: int, unit: WindowUnit) -> dt.datetime:
    """`count` units earlier; months keep the day of month, or its nearest."""
    try:
        if unit in _SPANS:
            return moment - count * _SPANS[unit]
        months = moment.year * 12 + moment.month - 1 - count * _MONTHS[unit]
        year, month = months // 12, months % 12 + 1
        return moment.replace(
            year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1])
        )
    except (OverflowError, ValueError) as error:
        raise OutOfCalendar from error


def last_bounds(window: LastWindow, as_of: Moment) -> tuple[dt.datetime, dt.datetime]:
    """Start and end. With a bare date the end is the midnight after it, so the start is included and the
    end is not; with a timestamp it is the other way round, so that 'now' itself counts."""
    end = midnight(next_day(as_of)) if not isinstance(as_of, dt.datetime) else as_of
    return back(end, window.last, window.unit), end


def period_bounds(window: PeriodWindow, as_of: Moment, calendar: Calendar) -> tuple[dt.date, dt.date]:
    """First day and the day after the last."""
    today = day_of(as_of)
    if window.period in ("ytd", "fiscal_ytd"):
        unit: PeriodUnit = "year" if window.period == "ytd" else "fiscal_year"
        return start_of(today, unit, calendar), next_day(today)
    unit, offset = _PERIODS[window.period]
    start = start_of(today, unit, calendar)
    length = _length_of(unit)
    if offset:
        start = back(midnight(start), offset, length).date()
    return start, back(midnight(start), -1, length).date()


def is_fiscal(name: str) -> bool:
    """Whether a period or a bucket is about fiscal years."""
    return "fiscal_" in name


_PERIODS: dict[PeriodName, tuple[PeriodUnit, int]] = {
    "today": ("day", 0), "yesterday": ("day", 1),
    "this_week": ("week", 0), "last_week": ("week", 1),
    "this_month": ("month", 0), "last_month": ("month", 1),
    "this_quarter": ("quarter", 0), "last_quarter": ("quarter", 1),
    "this_year": ("year", 0), "last_year": ("year", 1),
    "this_fiscal_quarter": ("fiscal_quarter", 0), "last_fiscal_quarter": ("fiscal_quarter", 1),
    "this_fiscal_year": ("fiscal_year", 0), "last_fiscal_year": ("fiscal_year", 1),
}  # fmt: skip


def start_of(day: dt.date, unit: PeriodUnit, calendar: Calendar) -> dt.date:
    """The first day of the period that holds a day."""
    try:
        match unit:
            case "week":
                return calendar.week(day)
            case "month":
                return day.replace(day=1)
            case "quarter":
                return day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
            case "year":
                return day.replace(month=1, day=1)
            case "fiscal_quarter":
                return calendar.fiscal_quarter_start(calendar.fiscal_year(day), calendar.fiscal_quarter(day))
            case "fiscal_year":
                return calendar.fiscal_year_start(calendar.fiscal_year(day))
            case _:
                return day
    except (OverflowError, ValueError) as error:
        raise OutOfCalendar from error


def _length_of(unit: PeriodUnit) -> WindowUnit:
    match unit:
        case "fiscal_quarter":
            return "quarter"
        case "fiscal_year":
            return "year"
        case _:
            return unit
