"""When weeks and fiscal years begin in a dataset. A fiscal year is named after the calendar year in which it ends."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sandtable.catalog.model import Dataset, WeekStart

_WEEK_SHIFTS: dict[WeekStart, int] = {"monday": 0, "sunday": 1, "saturday": 2}


@dataclass(frozen=True, slots=True)
class Calendar:
    week_start: WeekStart = "monday"
    fiscal_month: int | None = None
    """The month in which a fiscal year begins; None where none is declared."""

    @staticmethod
    def of(dataset: Dataset) -> Calendar:
        return Calendar(dataset.week_start, dataset.fiscal_month)

    @property
    def week_shift(self) -> int:
        """By how many days a week begins before Monday."""
        return _WEEK_SHIFTS[self.week_start]

    @property
    def fiscal_shift(self) -> int:
        """By how many months a fiscal year begins after January."""
        return (self.fiscal_month or 1) - 1

    def week(self, day: dt.date) -> dt.date:
        """The first day of the week that holds a day; raises OverflowError before the year 1."""
        return day - dt.timedelta(days=(day.weekday() + self.week_shift) % 7)

    def fiscal_year(self, day: dt.date) -> int:
        """The number of the fiscal year that holds a day."""
        return day.year + (self.fiscal_shift > 0 and day.month > self.fiscal_shift)

    def fiscal_quarter(self, day: dt.date) -> int:
        return (day.month - 1 - self.fiscal_shift) % 12 // 3 + 1

    def fiscal_year_start(self, number: int) -> dt.date:
        return dt.date(number - (self.fiscal_shift > 0), self.fiscal_shift + 1, 1)

    def fiscal_quarter_start(self, year: int, number: int) -> dt.date:
        start = self.fiscal_year_start(year)
        months = start.year * 12 + start.month - 1 + 3 * (number - 1)
        return dt.date(months // 12, months % 12 + 1, 1)


USUAL = Calendar()
"""Weeks from Monday, and no fiscal year."""
