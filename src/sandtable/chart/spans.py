"""Keys that have an order: sorted, in words, and with gaps where values are missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Any

from sandtable.chart.cells import label, number
from sandtable.chart.shape import Field

_MONTHS: tuple[str, ...] = tuple("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())
_DAYS = "Mon Tue Wed Thu Fri Sat Sun".split()
_LONG_MONTHS: tuple[str, ...] = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_LONG_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

SPOKEN = frozenset(("quarter", "fiscal_quarter", "fiscal_year"))
"""Periods that Plotly has no format for."""
IN_WORDS = frozenset(("day_of_week", "month_of_year", "hour_of_day"))
"""Periods that are numbers in the data and words on an axis."""
_WITH_NAMES = frozenset(("month", "year"))
FEW = 6


def spoken(key: Field) -> list[str]:
    """The key's different labels: in their own order if they have one, else in the order of the rows."""
    if key.role == "time":
        return sorted(key.column.distinct)
    if key.role == "period":
        return sorted(key.column.distinct, key=lambda text: number(text) or 0.0)
    return list(key.column.distinct)


def texts(key: Field, labels: Sequence[str] | None = None, *, short: bool = False) -> list[str]:
    """Labels as a person says them: `January 2024` for a month, `Monday` for day 1; `short`: `Jan 2024`, `Mon`.
    Different labels stay different."""
    given = list(key.column.labels if labels is None else labels)
    whole = key.current and not short
    said = [_said(key, text, whole) for text in given]
    return said if len(set(said)) == len(set(given)) else given


def ticks_along(key: Field) -> dict[str, str]:
    """The moments that an axis of time names, with their names: all of a few; of many that Plotly has no format for,
    a few at equal distances. None where Plotly's own ticks are as good."""
    moments = sorted({str(cell) for cell in key.column.cells})
    if key.grain not in SPOKEN and (key.grain not in _WITH_NAMES or len(moments) > FEW):
        return {}
    step = next(step for step in (1, 2, 4, 8, 20, 40, 80, len(moments)) if len(moments) / step <= FEW)
    first = next((n for n, text in enumerate(moments[:step]) if text[5:7] == "01"), 0)
    named = moments[first::step]
    return dict(zip(named, texts(key, named, short=True), strict=True))


def _said(key: Field, text: str, whole: bool) -> str:
    unit = key.grain or ""
    if key.role == "time":
        return _moment_said(unit, text, whole)
    if key.role == "period" and unit in ("day_of_week", "month_of_year") and text.isdecimal():
        names = (_LONG_DAYS if whole else _DAYS) if unit == "day_of_week" else _months(whole)
        return names[int(text) - 1] if 1 <= int(text) <= len(names) else text
    if key.current and key.role == "period" and unit == "hour_of_day" and text.isdecimal() and int(text) < 24:
        return f"{int(text):02d}:00"
    return text


def _months(whole: bool) -> tuple[str, ...]:
    return _LONG_MONTHS if whole else _MONTHS


def _moment_said(unit: str, text: str, whole: bool) -> str:
    if unit == "year" or len(text) < len("2024-01"):
        return text[:4]
    if unit in ("fiscal_year", "fiscal_quarter"):
        return _fiscal_said(unit, text)
    month = _months(whole)[int(text[5:7]) - 1]
    if unit == "month":
        return f"{month} {text[:4]}"
    if unit == "quarter":
        return f"Q{(int(text[5:7]) + 2) // 3} {text[:4]}"
    return text[:10] if text[10:] in ("T00:00:00", "T00:00:00+00:00") else text


def _fiscal_said(unit: str, text: str) -> str:
    """`FY2025` by the first day of the year; of a quarter its months, since its number depends on the dataset."""
    year, month = int(text[:4]), int(text[5:7])
    if unit == "fiscal_year":
        return f"FY{year + (month > 1)}"
    return f"{_MONTHS[month - 1]}–{_MONTHS[(month + 1) % 12]} {year + (month > 10)}"


def sort_points(key: Field, points: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Along the key, if it has an order. Points are (key cell, value)."""
    if key.role == "time":
        return sorted(points, key=lambda point: str(point[0]))
    if key.role == "period":
        return sorted(points, key=lambda point: number(point[0]) or 0.0)
    return points


def with_gaps(key: Field, points: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """An empty point between two points that are not neighbours, so that no line crosses a gap."""
    places = _places(key)
    made = points[:1]
    for (before, _), (cell, value) in pairwise(points):
        if places.get(label(cell), 0) - places.get(label(before), 0) > 1:
            made.append((None, None))
        made.append((cell, value))
    return made


def _places(key: Field) -> dict[str, int]:
    """Where each label stands; neighbours differ by one."""
    labels = spoken(key)
    if key.role == "period":
        return {text: int(number(text) or 0) for text in labels}
    if key.role == "time":
        try:
            return {text: _place(_unit(key, labels), text) for text in labels}
        except ValueError:
            # Of an unknown unit, or no real date: neighbours are those that follow each other in the data.
            return {text: n for n, text in enumerate(labels)}
    return {text: n for n, text in enumerate(labels)}


def _unit(key: Field, labels: list[str]) -> str:
    if key.grain is not None:
        return key.grain
    return "month" if all(len(text) == 7 or text[7:] in ("-01", "-01T00:00:00") for text in labels) else ""


def _place(unit: str, text: str) -> int:
    months = int(text[:4]) * 12 + int(text[5:7]) - 1
    match unit:
        case "year" | "fiscal_year":
            return months // 12
        case "quarter" | "fiscal_quarter":
            return months // 3
        case "month":
            return months
        case "week":
            return (date.fromisoformat(text[:10]).toordinal() - 1) // 7
        case "day":
            return date.fromisoformat(text[:10]).toordinal()
        case "hour":
            return date.fromisoformat(text[:10]).toordinal() * 24 + int(text[11:13] or 0)
        case _:
            raise ValueError(unit)
