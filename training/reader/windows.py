"""Time windows as the training domains write them: `last_month`, `last 30 day`, `2024-Q1`, `2024-01-01..`."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from sandtable.planner.language import periods

_UNITS = ("minute", "hour", "day", "week", "month", "quarter", "year")


def frozen(window: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """A window as a value that can be compared."""
    return tuple(sorted(window.items()))


def read_window(text: str, as_of: str | None) -> tuple[tuple[str, Any], ...]:
    """The window as the planner's own reading of times gives it: whole periods by their first and last day."""
    words = text.split()
    if len(words) == 3 and words[0] == "last" and words[1].isdigit():
        unit = words[2].removesuffix("s")
        if unit not in _UNITS:
            raise ValueError(f"{words[2]!r} is no unit of time")
        return frozen({"last": int(words[1]), "unit": unit})
    if text == "ytd":
        return frozen({"period": "ytd"})
    if text in {"today", "yesterday"} or re.fullmatch(r"(this|last)_(week|month|quarter|year)", text):
        if as_of is None:
            raise ValueError(f"{text} needs as_of")
        today = dt.date.fromisoformat(as_of[:10])
        unit = "day" if text in {"today", "yesterday"} else text.split("_")[1]
        offset = -1 if text == "yesterday" or text.startswith("last") else 0
        return frozen(dict(periods.around(today, unit, offset).window))
    if ".." in text:
        first, _, last = text.partition("..")
        window = {"from": _first(first.strip()), "to": _last(last.strip())}
        return frozen({end: day for end, day in window.items() if day})
    return frozen(dict(_period(text).window))


def _first(text: str) -> str:
    return _period(text).first.isoformat() if text else ""


def _last(text: str) -> str:
    return _period(text).last.isoformat() if text else ""


def _period(text: str) -> periods.Period:
    if match := re.fullmatch(r"(\d{4})", text):
        return periods.year(int(match.group(1)))
    if match := re.fullmatch(r"(\d{4})-(\d\d)", text):
        return periods.month(int(match.group(1)), int(match.group(2)))
    if match := re.fullmatch(r"(\d{4})-Q([1-4])", text):
        return periods.quarter(int(match.group(1)), int(match.group(2)))
    if match := re.fullmatch(r"(\d{4})-H([12])", text):
        return periods.half(int(match.group(1)), int(match.group(2)))
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return periods.day(dt.date.fromisoformat(text))
    raise ValueError(f"{text!r} is no time window")
