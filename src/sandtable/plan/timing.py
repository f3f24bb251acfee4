"""A time window → a condition with constant bounds."""

from __future__ import annotations

import datetime as dt

from sandtable.catalog.model import ColumnType
from sandtable.plan.conditions import every
from sandtable.plan.expressions import Expressions
from sandtable.plan.findings import Findings
from sandtable.plan.moments import (
    Moment,
    OutOfCalendar,
    day_of,
    is_bare_date,
    last_bounds,
    midnight,
    next_day,
    period_bounds,
    read_moment,
)
from sandtable.plan.resolved import ColumnRef, Compare, Condition, Value
from sandtable.plan.windows import LastWindow, PeriodWindow, RangeWindow, TimeWindow
from sandtable.quoting import quote

_FORMS = 'Write a date as "2024-03-31" or a timestamp as "2024-03-31T18:00:00".'


def resolve_window(window: TimeWindow, expressions: Expressions, found: Findings) -> Condition | None:
    column = expressions.time_column(window.column, "time")
    if isinstance(window, RangeWindow):
        return _range(window, column, found)
    as_of = _anchor(window, expressions.scope.dataset.as_of, found)
    if column is None or as_of is None:
        return None
    try:
        if isinstance(window, PeriodWindow):
            start, end = period_bounds(window, as_of)
            return every([Compare(column, ">=", _bound(start)), Compare(column, "<", _bound(end))])
        return _last(window, column, as_of, found)
    except OutOfCalendar:
        found.add("time", "the window reaches beyond the calendar (years 1 to 9999)", "Use a shorter window.")
        return None


def _anchor(window: LastWindow | PeriodWindow, dataset_as_of: str | None, found: Findings) -> Moment | None:
    text = window.as_of or dataset_as_of
    if text is None:
        found.add(
            "time.as_of",
            "this window is relative, but neither the plan nor the dataset says what 'now' is",
            'Add "as_of", such as "2024-06-30", or use "from" and "to".',
        )
        return None
    moment = read_moment(text)
    if moment is None:
        found.add("time.as_of", f"{quote(text)} is not a date or timestamp", _FORMS)
    return moment


def _last(window: LastWindow, column: ColumnRef, as_of: Moment, found: Findings) -> Condition | None:
    if column.type is ColumnType.DATE:
        if window.unit in ("minute", "hour"):
            found.add("time.unit", f"{quote(column.column)} is a date and has no hours", "Use day or longer.")
            return None
        as_of = day_of(as_of)
    start, end = last_bounds(window, as_of)
    if is_bare_date(as_of):
        return every([Compare(column, ">=", _bound(start)), Compare(column, "<", _bound(end))])
    return every([Compare(column, ">", _bound(start)), Compare(column, "<=", _bound(end))])


def _range(window: RangeWindow, column: ColumnRef | None, found: Findings) -> Condition | None:
    start = _read(window.from_, "time.from", found)
    end = _read(window.to, "time.to", found)
    if column is None:
        return None
    try:
        until = next_day(end) if end is not None and not isinstance(end, dt.datetime) else end
    except OutOfCalendar:
        until = None
    if start is not None and until is not None and _instant(start) >= _instant(until):
        found.add(
            "time.to", f"the range is empty: {window.to} is not after {window.from_}", "Swap from and to."
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
