"""Results along time: from first to last, the peak and the low, and several series side by side."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from sandtable.plan.moments import Moment
from sandtable.wording import dates
from sandtable.wording.degrees import degree, subject, verb
from sandtable.wording.field import NUMBERS, Field, Row, moment_of
from sandtable.wording.phrases import joined, sentence_start
from sandtable.wording.result import Result

MOST_SERIES = 4
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "fiscal_quarter": 3, "fiscal_year": 12}

Point = tuple[Row, Decimal]


def is_series(result: Result) -> bool:
    times = [key for key in result.keys if _runs(key)]
    rows_of_groups = result.grouped or (not result.planned and len(result.keys) <= 2)
    return len(times) == 1 and rows_of_groups and bool(result.measures) and len(result.rows) > 1


def _runs(key: Field) -> bool:
    return key.is_time and key.bucket not in ("day_of_week", "month_of_year", "hour_of_day")


def series(result: Result, field: Field) -> str:
    time = next(key for key in result.keys if _runs(key))
    points = _points(result.rows, field, time)
    if len(points) < 2:
        return ""
    if len(result.keys) > 1:
        return _several(result, field, time, points)
    partial = [_is_partial(result, time, points[0][0]), _is_partial(result, time, points[-1][0])]
    whole = points[partial[0] : len(points) - partial[1]]
    if len(whole) < 2 or not any(partial):
        return _one(result, field, time, points)
    which = "first and last" if all(partial) else "first" if partial[0] else "last"
    period = time.bucket.replace("_", " ")
    are, them = (f"{period}s are", "each") if all(partial) else (f"{period} is", "it")
    told = _one(result, field, time, whole)
    return f"{told} The {which} {are} left out: only part of {them} lies {result.time}."


def _is_partial(result: Result, time: Field, row: Row) -> bool:
    """Whether the time window cuts through a bucket."""
    start, next_start = moment_of(time, row), None
    if result.window is None or start is None or isinstance(start, dt.datetime):
        return False
    if time.bucket == "week":
        next_start = start + dt.timedelta(days=7)
    elif time.bucket in _MONTHS:
        months = start.month - 1 + _MONTHS[time.bucket]
        next_start = start.replace(year=start.year + months // 12, month=months % 12 + 1)
    if next_start is None:
        return False
    return start < result.window[0] or next_start > result.window[1]


def ends_of(result: Result, field: Field) -> tuple[Decimal, Decimal] | None:
    """The first and the last value of a single series."""
    time = next((key for key in result.keys if _runs(key)), None)
    points = _points(result.rows, field, time) if time else []
    return (points[0][1], points[-1][1]) if len(points) > 1 else None


def _points(rows: tuple[Row, ...], field: Field, time: Field) -> list[Point]:
    """In the order of time; rows without a value or a time are left out."""
    dated: list[tuple[str, Row, Decimal]] = []
    for row in rows:
        number, cell = field.number(row), time.cell(row)
        if number is not None and isinstance(cell, str):
            dated.append((cell, row, number))
    return [(row, number) for _, row, number in sorted(dated, key=lambda point: point[0])]


def _one(result: Result, field: Field, time: Field, points: list[Point]) -> str:
    first, last = points[0], points[-1]
    peak = max(points, key=lambda point: point[1])
    low = min(points, key=lambda point: point[1])
    if peak[1] == low[1]:
        span = _from_to(time, first[0], last[0])
        told = f"{subject(field)} {verb(field, past=True)} {field.show(first[0])} throughout, {span}"
        return sentence_start(f"{_lead(result)}{told}.")
    parts: list[str] = []
    for word, (row, number) in (("peak", peak), ("low", low)):
        if number not in (first[1], last[1]):
            parts.append(f"its {word} {_when(time, row, beside=last[0])} ({field.show(row)})")
    tail = f", with {' and '.join(parts)}" if parts else ""
    marks = {peak[1]: "a peak of ", low[1]: "a low of "} if len(points) > 2 else {}
    told = _span(field, time, first, last, marks)
    return sentence_start(f"{_lead(result)}{told}{tail}.") + _beside(result, field, first, last)


def _beside(result: Result, field: Field, first: Point, last: Point) -> str:
    """How a further measure changed in the same time."""
    others = [other for other in result.measures if other is not field and other.type in NUMBERS]
    if len(others) != 1:
        return ""
    other = others[0]
    start, end = other.number(first[0]), other.number(last[0])
    if start is None or end is None or start == end:
        return ""
    went = "rose" if end > start else "fell"
    told = f"{subject(other)} {went} from {other.show(first[0])} to {other.show(last[0])} in the same time."
    return f" {sentence_start(told)}"


def _span(field: Field, time: Field, first: Point, last: Point, marks: dict[Decimal, str]) -> str:
    start, end = field.show(first[0]), field.show(last[0])
    at_first, at_last = _when(time, first[0], beside=last[0]), _when(time, last[0])
    if start == end:
        about = "" if first[1] == last[1] else "about "
        return f"{subject(field)} {verb(field, past=True)} {about}{start} both {at_first} and {at_last}"
    went = "rose" if last[1] > first[1] else "fell"
    start, end = marks.get(first[1], "") + start, marks.get(last[1], "") + end
    return f"{subject(field)} {went} from {start} {at_first} to {end} {at_last}"


def _when(time: Field, row: Row, beside: Row | None = None) -> str:
    return f"{dates.at(time.bucket)} {_period(time, row, beside)}"


def _period(time: Field, row: Row, beside: Row | None) -> str:
    """Without the year where the neighbouring period states it."""
    text = time.show(row)
    one, other = moment_of(time, row), moment_of(time, beside) if beside is not None else None
    if (
        one is None
        or other is None
        or one.year != other.year
        or time.bucket not in ("month", "day", "week", "")
    ):
        return text
    return text.replace(f" {one.year}", "", 1) if text.endswith(f" {one.year}") else text


def _from_to(time: Field, first: Row, last: Row) -> str:
    return f"from {_period(time, first, last)} to {time.show(last)}"


def _several(result: Result, field: Field, time: Field, points: list[Point]) -> str:
    peak = max(points, key=lambda point: point[1])
    low = min(points, key=lambda point: point[1])
    who = f"{_lead(result)}{subject(field)} {verb(field, past=True)}"
    if peak[1] == low[1]:
        return sentence_start(f"{who} {field.show(peak[0])} throughout.")
    plain = field.counts or field.many
    high, least = ("highest", "lowest") if plain else (degree(field, "high"), degree(field, "low"))
    top = f"{high} for {result.label(peak[0])} ({field.show(peak[0])})"
    text = f"{who} {top} and {least} for {result.label(low[0])} ({field.show(low[0])})."
    return sentence_start(text if result.cut else f"{text}{_each(result, field, time)}")


def _each(result: Result, field: Field, time: Field) -> str:
    """Each series from its first to its last value, when they are few."""
    others = [key for key in result.keys if key is not time]
    groups: dict[str, list[Row]] = {}
    for row in result.rows:
        groups.setdefault(" / ".join(key.show(row) for key in others), []).append(row)
    told: list[str] = []
    spans: set[tuple[Moment | None, Moment | None]] = set()
    for name, rows in groups.items():
        points = _points(tuple(rows), field, time)
        if len(points) < 2:
            return ""
        spans.add((moment_of(time, points[0][0]), moment_of(time, points[-1][0])))
        went = "" if told else "went "
        told.append(f"{name} {went}from {field.show(points[0][0])} to {field.show(points[-1][0])}")
    if len(told) < 2 or len(told) > MOST_SERIES or len(spans) > 1:
        return ""
    first, *_, last = _points(result.rows, field, time)
    return f" {sentence_start(_from_to(time, first[0], last[0]))}, {joined(told)}."


def _lead(result: Result) -> str:
    """The filters only: a series states its time itself."""
    where = f"among {result.row_noun} {result.where}, " if result.where else ""
    return f"{where}in the rows shown, " if result.cut else where
