"""Keys that have an order: sorted, in words, and with gaps where values are missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Any

from sandtable.chart.cells import label, number
from sandtable.chart.shape import Field

_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_DAYS = "Mon Tue Wed Thu Fri Sat Sun".split()


def spoken(key: Field) -> list[str]:
    """The key's different labels: in their own order if they have one, else in the order of the rows."""
    if key.role == "time":
        return sorted(key.column.distinct)
    if key.role == "period":
        return sorted(key.column.distinct, key=lambda text: number(text) or 0.0)
    return list(key.column.distinct)


def texts(key: Field, labels: Sequence[str] | None = None) -> list[str]:
    """Labels as a person says them: `May 2024` for a month, `Mon` for day 1. Different labels stay different."""
    given = list(key.column.labels if labels is None else labels)
    said = [_said(key, text) for text in given]
    return said if len(set(said)) == len(set(given)) else given


def _said(key: Field, text: str) -> str:
    unit = key.grain or ""
    if key.role == "time":
        return _moment_said(unit, text)
    if key.role == "period" and unit in ("day_of_week", "month_of_year") and text.isdecimal():
        names = _DAYS if unit == "day_of_week" else _MONTHS
        return names[int(text) - 1] if 1 <= int(text) <= len(names) else text
    return text


def _moment_said(unit: str, text: str) -> str:
    if unit == "year":
        return text[:4]
    if unit in ("fiscal_year", "fiscal_quarter"):
        return _fiscal_said(unit, text)
    month = _MONTHS[int(text[5:7]) - 1]
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
