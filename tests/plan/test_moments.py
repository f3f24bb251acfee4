"""Dates as text, and the bounds of time windows: leap days, month ends, week starts, the calendar's ends."""

from __future__ import annotations

import datetime as dt

import pytest

from sandtable.catalog.calendar import USUAL, Calendar
from sandtable.plan.moments import OutOfCalendar, last_bounds, period_bounds, read_moment, read_time
from sandtable.plan.windows import LastWindow, PeriodWindow

READABLE = {
    "2024-02-29": dt.date(2024, 2, 29),
    "2024-02-29T13:45": dt.datetime(2024, 2, 29, 13, 45),
    "2024-02-29 13:45:01.5": dt.datetime(2024, 2, 29, 13, 45, 1, 500_000),
    "2024-03-01T00:30:00+02:00": dt.datetime(2024, 2, 29, 22, 30),
    "2024-03-01T00:30:00Z": dt.datetime(2024, 3, 1, 0, 30),
}
UNREADABLE = [
    "", "now", "2024", "2024-02", "20240229", "2024-W09-4", "2023-02-29", "2024-2-9", "29.02.2024",
    "2024-02-29T25:00",
    "٢٠٢٤-٠٢-٢٩", "2024-02-29T", "0001-01-01T00:00:00+14:00", " 2024-02-29",
]  # fmt: skip


@pytest.mark.parametrize(("text", "moment"), READABLE.items())
def test_readable(text: str, moment: dt.date) -> None:
    found = read_moment(text)
    assert (found, type(found)) == (moment, type(moment))


@pytest.mark.parametrize("text", UNREADABLE)
def test_unreadable(text: str) -> None:
    assert read_moment(text) is None


def test_times_of_day() -> None:
    assert read_time("18:30") == dt.time(18, 30)
    assert [read_time(text) for text in ("24:00", "6pm", "18:30+01:00", "")] == [None] * 4


LAST = [
    (1, "month", "2024-03-31T12:00:00", "2024-02-29 12:00:00", "2024-03-31 12:00:00"),
    (1, "month", "2023-03-31", "2023-03-01 00:00:00", "2023-04-01 00:00:00"),
    (12, "month", "2024-02-29", "2023-03-01 00:00:00", "2024-03-01 00:00:00"),
    (1, "year", "2024-02-29T00:00:00", "2023-02-28 00:00:00", "2024-02-29 00:00:00"),
    (2, "quarter", "2024-06-30", "2024-01-01 00:00:00", "2024-07-01 00:00:00"),
    (1, "day", "2024-01-01", "2024-01-01 00:00:00", "2024-01-02 00:00:00"),
    (2, "week", "2024-01-14", "2024-01-01 00:00:00", "2024-01-15 00:00:00"),
    (90, "minute", "2024-01-01T01:00:00", "2023-12-31 23:30:00", "2024-01-01 01:00:00"),
    (6, "hour", "2024-01-01", "2024-01-01 18:00:00", "2024-01-02 00:00:00"),
]


@pytest.mark.parametrize(("count", "unit", "as_of", "start", "end"), LAST)
def test_last(count: int, unit: str, as_of: str, start: str, end: str) -> None:
    moment = read_moment(as_of)
    assert moment is not None
    window = LastWindow.model_validate({"last": count, "unit": unit})
    assert [str(bound) for bound in last_bounds(window, moment)] == [start, end]


PERIODS = {
    "today": ("2024-02-29", "2024-03-01"),
    "yesterday": ("2024-02-28", "2024-02-29"),
    "this_week": ("2024-02-26", "2024-03-04"),
    "last_week": ("2024-02-19", "2024-02-26"),
    "this_month": ("2024-02-01", "2024-03-01"),
    "last_month": ("2024-01-01", "2024-02-01"),
    "this_quarter": ("2024-01-01", "2024-04-01"),
    "last_quarter": ("2023-10-01", "2024-01-01"),
    "this_year": ("2024-01-01", "2025-01-01"),
    "last_year": ("2023-01-01", "2024-01-01"),
    "ytd": ("2024-01-01", "2024-03-01"),
}


@pytest.mark.parametrize(("period", "bounds"), PERIODS.items())
def test_periods(period: str, bounds: tuple[str, str]) -> None:
    window = PeriodWindow.model_validate({"period": period})
    assert tuple(str(day) for day in period_bounds(window, dt.datetime(2024, 2, 29, 23, 59), USUAL)) == bounds


OTHER_CALENDARS = [
    (Calendar("sunday"), "this_week", ("2024-02-25", "2024-03-03")),
    (Calendar("sunday"), "last_week", ("2024-02-18", "2024-02-25")),
    (Calendar("saturday"), "this_week", ("2024-02-24", "2024-03-02")),
    (Calendar(fiscal_month=4), "this_fiscal_year", ("2023-04-01", "2024-04-01")),
    (Calendar(fiscal_month=4), "last_fiscal_year", ("2022-04-01", "2023-04-01")),
    (Calendar(fiscal_month=4), "this_fiscal_quarter", ("2024-01-01", "2024-04-01")),
    (Calendar(fiscal_month=2), "this_fiscal_quarter", ("2024-02-01", "2024-05-01")),
    (Calendar(fiscal_month=2), "last_fiscal_quarter", ("2023-11-01", "2024-02-01")),
    (Calendar(fiscal_month=2), "fiscal_ytd", ("2024-02-01", "2024-03-01")),
    (Calendar(fiscal_month=4), "this_year", ("2024-01-01", "2025-01-01")),
]


@pytest.mark.parametrize(("calendar", "period", "bounds"), OTHER_CALENDARS)
def test_periods_of_another_calendar(calendar: Calendar, period: str, bounds: tuple[str, str]) -> None:
    window = PeriodWindow.model_validate({"period": period})
    assert tuple(str(day) for day in period_bounds(window, dt.date(2024, 2, 29), calendar)) == bounds


@pytest.mark.parametrize(
    ("period", "day"), [("this_year", dt.date.max), ("last_year", dt.date.min), ("today", dt.date.max)]
)
def test_the_calendar_ends(period: str, day: dt.date) -> None:
    with pytest.raises(OutOfCalendar):
        period_bounds(PeriodWindow.model_validate({"period": period}), day, USUAL)
