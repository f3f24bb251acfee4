"""Time windows in words, with their dates: "in the last 90 days (3 October to 31 December 2025)"."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sandtable.catalog.calendar import USUAL, Calendar
from sandtable.catalog.model import Dataset
from sandtable.plan.moments import (
    Moment,
    OutOfCalendar,
    day_of,
    is_fiscal,
    last_bounds,
    next_day,
    period_bounds,
    read_moment,
)
from sandtable.plan.windows import LastWindow, PeriodWindow, RangeWindow, TimeWindow
from sandtable.quoting import inert
from sandtable.wording import dates
from sandtable.wording.phrases import words

_ONE_DAY = dt.timedelta(days=1)
_LAST_SECOND = dt.time(23, 59, 59)


@dataclass(frozen=True, slots=True)
class Anchored:
    """A time window with all that its bounds depend on."""

    time: TimeWindow
    as_of: str | None
    """Where 'now' is in the dataset."""
    whole_days: bool
    """The column holds dates, so that the time of day of 'now' does not matter."""
    calendar: Calendar = USUAL

    @staticmethod
    def of(time: TimeWindow, dataset: Dataset, whole_days: bool) -> Anchored:
        return Anchored(time, dataset.as_of, whole_days, Calendar.of(dataset))

    @property
    def now(self) -> Moment | None:
        text = None if isinstance(self.time, RangeWindow) else self.time.as_of
        moment = read_moment(text or self.as_of or "")
        return day_of(moment) if moment is not None and self.whole_days else moment

    def days(self) -> tuple[dt.date, dt.date] | None:
        """The first day and the day after the last; None when an end is open or not the end of a day."""
        try:
            bounds = self._bounds()
        except (OutOfCalendar, OverflowError):
            return None
        if bounds is None or not (_is_midnight(bounds[0]) and _is_midnight(bounds[1])):
            return None
        return day_of(bounds[0]), day_of(bounds[1])

    def _bounds(self) -> tuple[Moment, Moment] | None:
        if isinstance(self.time, RangeWindow):
            start, end = read_moment(self.time.from_ or ""), read_moment(self.time.to or "")
            if start is None or end is None:
                return None
            return start, end if isinstance(end, dt.datetime) else next_day(end)
        now = self.now
        if now is None:
            return None
        if isinstance(self.time, PeriodWindow):
            return period_bounds(self.time, now, self.calendar)
        if (
            isinstance(now, dt.datetime)
            and now.time() == _LAST_SECOND
            and self.time.unit not in ("minute", "hour")
        ):
            now = now.date()
        return last_bounds(self.time, now)

    def in_words(self) -> str:
        match self.time:
            case RangeWindow():
                return _range(self.time, self.calendar)
            case LastWindow(last=count, unit=unit):
                many = f"{unit}" if count == 1 else f"{count:,} {unit}s"
                return f"in the last {many}{self._dates()}"
            case PeriodWindow(period="ytd"):
                return f"in the year to date{self._dates()}"
            case PeriodWindow(period="fiscal_ytd"):
                return f"in the fiscal year to date{self._dates()}"
            case PeriodWindow(period=period):
                return f"{period.replace('_', ' ')}{self._dates()}"

    def _dates(self) -> str:
        days = self.days()
        if days is not None and days[0] < days[1]:
            last = days[1] - _ONE_DAY
            if isinstance(self.time, PeriodWindow) and is_fiscal(self.time.period) and days[1].day == 1:
                return f" ({dates.months(days[0], last)})"
            return f" ({_days(days[0], last)})"
        now = self.now
        if not isinstance(self.time, LastWindow) or not isinstance(now, dt.datetime):
            return ""
        try:
            start, end = last_bounds(self.time, now)
        except OutOfCalendar:
            return ""
        return f" ({dates.moment(start)} to {dates.moment(end)})"


def _is_midnight(moment: Moment) -> bool:
    return not isinstance(moment, dt.datetime) or moment.time() == dt.time()


def window(anchored: Anchored, usual: str | None) -> str:
    """`usual` is the column that applies when the window names none."""
    column = anchored.time.column
    name = column.rpartition(".")[2] if column else None
    if name is None or (usual is not None and name.lower() == usual.rpartition(".")[2].lower()):
        return anchored.in_words()
    return f"{anchored.in_words()} by {words(name)}"


def _range(time: RangeWindow, calendar: Calendar) -> str:
    start, end = read_moment(time.from_ or ""), read_moment(time.to or "")
    if time.from_ is not None and time.to is not None:
        if start is None or end is None:
            return f"from {inert(time.from_)} to {inert(time.to)}"
        if isinstance(start, dt.datetime) or isinstance(end, dt.datetime):
            return f"from {dates.moment(start)} to {dates.moment(end)}"
        exact = dates.whole(start, end, calendar)
        if start == end:
            return f"on {dates.day(start)}"
        return f"in {exact}" if exact else f"from {dates.span(start, end)}"
    if time.from_ is not None:
        return f"since {dates.moment(start) if start else inert(time.from_)}"
    text = dates.moment(end) if end else inert(time.to or "")
    return f"{'before' if isinstance(end, dt.datetime) else 'until'} {text}"


def _days(first: dt.date, last: dt.date) -> str:
    return dates.whole(first, last) or dates.span(day_of(first), day_of(last))
