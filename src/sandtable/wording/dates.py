"""Days, months, moments and spans of time as people write them: 3 March 2025, Q1 2025, week of 3 March 2025."""

from __future__ import annotations

import calendar
import datetime as dt

from sandtable.catalog.calendar import USUAL, Calendar

MONTHS = tuple(calendar.month_name)
_DAYS = ("", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ONE_DAY = dt.timedelta(days=1)


def day(date: dt.date, *, year: bool = True) -> str:
    return f"{date.day} {MONTHS[date.month]}" + (f" {date.year}" if year else "")


def moment(value: dt.date | dt.datetime) -> str:
    if not isinstance(value, dt.datetime):
        return day(value)
    if value.time() == dt.time():
        return day(value)
    clock = f"{value.hour:02d}:{value.minute:02d}"
    return f"{day(value)}, {clock}" + (f":{value.second:02d}" if value.second else "")


def instant(value: dt.datetime) -> str:
    """A moment with its time zone, so that a client can convert it to the reader's zone."""
    clock = f"{value.hour:02d}:{value.minute:02d}" + (f":{value.second:02d}" if value.second else "")
    return f"{day(value)}, {clock} UTC"


def period(start: dt.date, unit: str, rules: Calendar = USUAL) -> str:
    """A time bucket, by its first day."""
    match unit:
        case "week":
            first = f"{_DAYS[start.isoweekday()]} " if rules.week_shift else ""
            return f"week of {first}{day(start)}"
        case "month":
            return f"{MONTHS[start.month]} {start.year}"
        case "quarter":
            return f"Q{(start.month + 2) // 3} {start.year}"
        case "year":
            return str(start.year)
        case "fiscal_quarter":
            return f"fiscal Q{rules.fiscal_quarter(start)} {rules.fiscal_year(start)}"
        case "fiscal_year":
            return f"fiscal year {rules.fiscal_year(start)}"
        case "hour" if isinstance(start, dt.datetime):
            return f"{day(start)}, {start.hour:02d}:{start.minute:02d}"
        case _:
            return moment(start)


def part(number: int, unit: str) -> str | None:
    """A recurring bucket: 1 is Monday, or January, or 01:00."""
    match unit:
        case "day_of_week" if 1 <= number <= 7:
            return _DAYS[number]
        case "month_of_year" if 1 <= number <= 12:
            return MONTHS[number]
        case "hour_of_day" if 0 <= number <= 23:
            return f"{number:02d}:00"
        case _:
            return None


def at(unit: str) -> str:
    """The word before a bucket in a sentence: in March, on 3 March, at 14:00."""
    if unit in ("day", "day_of_week", ""):
        return "on"
    return "at" if unit in ("hour", "hour_of_day") else "in the" if unit == "week" else "in"


def span(start: dt.date, last: dt.date) -> str:
    """Two days and all between them: 3 October to 31 December 2025."""
    if start == last:
        return day(start)
    same_year = start.year == last.year
    if same_year and start.month == last.month:
        return f"{start.day} to {day(last)}"
    return f"{day(start, year=not same_year)} to {day(last)}"


def months(start: dt.date, last: dt.date) -> str:
    """Whole months, by a day of the first and one of the last: April 2024 to March 2025, April to June 2025."""
    year = f" {start.year}" if start.year != last.year else ""
    return f"{MONTHS[start.month]}{year} to {MONTHS[last.month]} {last.year}"


def whole(start: dt.date, last: dt.date, rules: Calendar = USUAL) -> str | None:
    """The year, quarter or month that two days enclose exactly, if they do. Where the fiscal year is another one than
    the calendar year, a fiscal period is named with its months."""
    after = last + _ONE_DAY if last < dt.date.max else last
    if start.day != 1 or after.day != 1:
        return None
    count = (after.year - start.year) * 12 + after.month - start.month
    if count == 1:
        return period(start, "month")
    fiscal = bool(rules.fiscal_shift) and (start.month - 1 - rules.fiscal_shift) % min(count, 12) == 0
    if count == 3 and start.month % 3 == 1:
        quarter = period(start, "quarter")
        return f"{quarter} ({period(start, 'fiscal_quarter', rules)})" if fiscal else quarter
    if fiscal and count in (3, 12):
        unit = "fiscal_quarter" if count == 3 else "fiscal_year"
        return f"{period(start, unit, rules)} ({months(start, last)})"
    return str(start.year) if count == 12 and start.month == 1 else None
