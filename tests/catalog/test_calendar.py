"""When weeks and fiscal years begin."""

from __future__ import annotations

import datetime as dt

import pytest

from sandtable.catalog.calendar import Calendar
from sandtable.catalog.model import WeekStart

DAYS = [dt.date(2023, 12, 25) + dt.timedelta(days=n) for n in range(800)]


@pytest.mark.parametrize(("start", "weekday"), [("monday", 0), ("sunday", 6), ("saturday", 5)])
def test_a_week_begins_on_its_day_and_holds_every_day_once(start: WeekStart, weekday: int) -> None:
    calendar = Calendar(start)
    for day in DAYS:
        first = calendar.week(day)
        assert first.weekday() == weekday
        assert 0 <= (day - first).days < 7


@pytest.mark.parametrize("month", range(1, 13))
def test_fiscal_years_and_quarters_hold_every_day_once(month: int) -> None:
    calendar = Calendar(fiscal_month=month)
    for day in DAYS:
        year, quarter = calendar.fiscal_year(day), calendar.fiscal_quarter(day)
        assert calendar.fiscal_year_start(year) <= day < calendar.fiscal_year_start(year + 1)
        following = (year, quarter + 1) if quarter < 4 else (year + 1, 1)
        assert calendar.fiscal_quarter_start(year, quarter) <= day < calendar.fiscal_quarter_start(*following)


def test_a_fiscal_year_has_the_name_of_the_year_in_which_it_ends() -> None:
    april = Calendar(fiscal_month=4)
    assert april.fiscal_year_start(2025) == dt.date(2024, 4, 1)
    assert (april.fiscal_year(dt.date(2024, 3, 31)), april.fiscal_year(dt.date(2024, 4, 1))) == (2024, 2025)
    assert Calendar(fiscal_month=1).fiscal_year_start(2025) == dt.date(2025, 1, 1)
