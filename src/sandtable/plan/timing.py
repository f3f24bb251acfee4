"""A time window → a condition with constant bounds."""

from __future__ import annotations

import datetime as dt

from sandtable.catalog.calendar import Calendar
from sandtable.catalog.model import ColumnType, Dataset
from sandtable.plan.conditions import called, every
from sandtable.plan.findings import Findings
from sandtable.plan.moments import (
    Moment,
    OutOfCalendar,
    day_of,
    is_bare_date,
    is_fiscal,
    last_bounds,
    midnight,
    next_day,
    period_bounds,
    read_moment,
)
from sandtable.plan.resolved import Compare, Condition, Expr, Value
from sandtable.plan.windows import LastWindow, PeriodWindow, RangeWindow, TimeWindow
from sandtable.quoting import quote

_FORMS = 'Write a date as "2024-03-31" or a timestamp as "2024-03-31T18:00:00".'


def resolve_window(
    window: TimeWindow, column: Expr | None, dataset: Dataset, found: Findings, place: str = "time"
) -> Condition | None:
    """`column` is what the window is about; None when that has been reported already."""
    if isinstance(window, RangeWindow):
        return _range(window, column, found, place)
    as_of = _as_of(window.as_of, dataset, found, place)
    if column is None or as_of is None:
        return None
    try:
        if isinstance(window, PeriodWindow):
            if not declares_fiscal(window.period, dataset, found, f"{place}.period"):
                return None
            start, end = period_bounds(window, as_of, Calendar.of(dataset))
            return every([Compare(column, ">=", _bound(start)), Compare(column, "<", _bound(end))])
        return _last(window, column, as_of, found, place)
    except OutOfCalendar:
        found.add(place, "the window reaches beyond the calendar (years 1 to 9999)", "Use a shorter window.")
        return None


def declares_fiscal(name: str, dataset: Dataset, found: Findings, place: str) -> bool:
    """Whether the catalog says when fiscal years begin, where a period or bucket needs it; reported when not."""
    if not is_fiscal(name) or dataset.fiscal_month is not None:
        return True
    found.add(
        place,
        f"{quote(name)} needs a fiscal year, and the catalog of this dataset declares none",
        "Declare `fiscal_year_start`, such as april, in the catalog, or use calendar years and quarters.",
    )
    return False


def anchor(
    given: str | None, dataset: Dataset, found: Findings, place: str, *, by_day: bool, date: bool
) -> Value | None:
    """Where 'now' is, as a value to compute with: the day itself where days are counted (`by_day`) and 'now' is a
    day, or where the other moment has no time (`date`); the end of that day otherwise."""
    as_of = _as_of(given, dataset, found, place)
    if as_of is None:
        return None
    if date or (by_day and is_bare_date(as_of)):
        return _bound(day_of(as_of))
    try:
        moment = as_of if isinstance(as_of, dt.datetime) else midnight(next_day(as_of))
    except OutOfCalendar:
        moment = midnight(day_of(as_of))
    return Value(moment, ColumnType.TIMESTAMP)


def _as_of(given: str | None, dataset: Dataset, found: Findings, place: str) -> Moment | None:
    text = given or dataset.as_of
    if text is None:
        what = "this window is relative" if place.endswith("time") else "this is relative"
        found.add(
            f"{place}.as_of",
            f"{what}, but neither the plan nor the dataset says what 'now' is",
            'Add "as_of", such as "2024-06-30", or use "from" and "to".',
        )
        return None
    moment = read_moment(text)
    if moment is None:
        found.add(f"{place}.as_of", f"{quote(text)} is not a date or timestamp", _FORMS)
    return moment


def _last(window: LastWindow, column: Expr, as_of: Moment, found: Findings, place: str) -> Condition | None:
    if column.type is ColumnType.DATE:
        if window.unit in ("minute", "hour"):
            found.add(f"{place}.unit", f"{called(column)} is a date and has no hours", "Use day or longer.")
            return None
        as_of = day_of(as_of)
    start, end = last_bounds(window, as_of)
    if is_bare_date(as_of):
        return every([Compare(column, ">=", _bound(start)), Compare(column, "<", _bound(end))])
    return every([Compare(column, ">", _bound(start)), Compare(column, "<=", _bound(end))])


def _range(window: RangeWindow, column: Expr | None, found: Findings, place: str) -> Condition | None:
    start = _read(window.from_, f"{place}.from", found)
    end = _read(window.to, f"{place}.to", found)
    if column is None:
        return None
    try:
        until = next_day(end) if end is not None and not isinstance(end, dt.datetime) else end
    except OutOfCalendar:
        until = None
    if start is not None and until is not None and _instant(start) >= _instant(until):
        found.add(
            f"{place}.to", f"the range is empty: {window.to} is not after {window.from_}", "Swap from and to."
        )
    parts: list[Condition] = []
    if start is not None:
        parts.append(Compare(column, ">=", _bound(start)))
    if until is not None:
        parts.append(Compare(column, "<", _bound(until)))
    return every(parts)


def _read(text: str | None, place: str, found: Findings) -> Moment | None:
    moment = read_moment(text) if text is not None else None
    if text is not None and moment is None:
        found.add(place, f"{quote(text)} is not a date or timestamp", _FORMS)
    return moment


def _instant(moment: Moment) -> dt.datetime:
    return moment if isinstance(moment, dt.datetime) else midnight(moment)


def _bound(moment: Moment) -> Value:
    """A midnight is written as its date: shorter to read and equal to compare with."""
    if isinstance(moment, dt.datetime) and moment.time() == dt.time():
        moment = moment.date()
    return Value(moment, ColumnType.DATE if is_bare_date(moment) else ColumnType.TIMESTAMP)
