"""Time windows under other names: `last_6_months`, `2025-Q1`, `{"start": …, "end": …}`."""

from __future__ import annotations

import calendar
import re
from typing import Any, get_args

from sandtable.agent.normalising.known import Json, Known, key_of, renamed
from sandtable.plan.windows import PeriodName, WindowUnit

UNITS: tuple[str, ...] = get_args(WindowUnit)
_PERIODS: tuple[str, ...] = get_args(PeriodName)
_FIELDS = {
    "start": "from", "start_date": "from", "since": "from", "begin": "from", "from_date": "from",
    "end": "to", "end_date": "to", "to_date": "to",
    "time_column": "column", "date_column": "column", "field": "column", "n": "last", "count": "last",
    "amount": "last", "units": "unit", "range": "period", "window": "period", "name": "period", "value": "period",
}  # fmt: skip
_LAST = re.compile(rf"(?:the_)?(?:last|past)_(\d{{1,5}})_({'|'.join(UNITS)})s?")
_BARE_COUNT = re.compile(rf"(\d{{1,5}})_({'|'.join(UNITS)})s?")
_SHORT = {"d": "day", "w": "week", "m": "month", "q": "quarter", "y": "year", "h": "hour"}
_YEAR = re.compile(r"(?:year_)?((?:19|20)\d\d)")
_MONTH = re.compile(r"((?:19|20)\d\d)_(0?[1-9]|1[0-2])")
_QUARTER = re.compile(r"(?:q([1-4])_((?:19|20)\d\d)|((?:19|20)\d\d)_?q([1-4]))")
_SAME_PERIOD = {
    "year_to_date": "ytd", "previous_month": "last_month", "previous_week": "last_week",
    "previous_year": "last_year", "previous_quarter": "last_quarter", "current_month": "this_month",
    "current_year": "this_year", "current_week": "this_week", "current_quarter": "this_quarter",
}  # fmt: skip
_EVERYTHING = frozenset({"all", "all_time", "any", "none", "null", "entire", "everything", "always", "n_a"})
_NOW = frozenset({"now", "today", "current_date", "as_of", "present"})


def window_in(text: object) -> Json | None:
    """The window that a text or a year names; None when it names none, or more than one."""
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str):
        return None
    name = key_of(text)
    name = _SAME_PERIOD.get(name, name)
    if name in _PERIODS:
        return {"period": name}
    if found := _LAST.fullmatch(name):
        return {"last": int(found[1]), "unit": found[2]}
    if found := _YEAR.fullmatch(name):
        return _between(int(found[1]), 1, 12)
    if found := _MONTH.fullmatch(name):
        return _between(int(found[1]), int(found[2]), int(found[2]))
    if found := _QUARTER.fullmatch(name):
        first = 3 * int(found[1] or found[4]) - 2
        return _between(int(found[2] or found[3]), first, first + 2)
    return None


def names_everything(text: object) -> bool:
    return isinstance(text, str) and key_of(text) in _EVERYTHING


def _between(year: int, first: int, last: int) -> Json:
    return {
        "from": f"{year}-{first:02}-01",
        "to": f"{year}-{last:02}-{calendar.monthrange(year, last)[1]:02}",
    }


def window_of(given: Any, known: Known) -> Any:
    """The window in the plan's form; None for one that leaves nothing out."""
    if names_everything(given) or given in ({}, [], ""):
        return None
    if not isinstance(given, dict):
        if isinstance(given, list) and len(given) == 1:
            return window_of(given[0], known)
        return window_in(given) or given
    made = renamed(given, _FIELDS)
    if set(made) <= {"column"}:
        # A time column alone leaves nothing out.
        return None
    if isinstance(made.get("last"), str) and "unit" not in made:
        count = _BARE_COUNT.fullmatch(key_of(made["last"]))
        if count:
            made |= {"last": int(count[1]), "unit": count[2]}
    if (
        isinstance(made.get("last"), str)
        and made["last"].strip().isascii()
        and made["last"].strip().isdigit()
    ):
        made["last"] = int(made["last"])
    if isinstance(made.get("unit"), str):
        made["unit"] = _unit(made["unit"])
    return _named(made)


def _unit(text: str) -> str:
    name = key_of(text)
    return next((unit for unit in UNITS if name in (unit, f"{unit}s")), _SHORT.get(name, text))


def _named(made: Json) -> Json | None:
    """`period` that holds another kind of window, and ends that are whole periods."""
    rest = {field: value for field, value in made.items() if field not in {"period", "unit"}}
    if "period" in made and set(rest) <= {"column", "as_of"}:
        if names_everything(made["period"]):
            return None
        window = window_in(made["period"])
        if window is not None and made.get("unit", window.get("unit")) in _units_of(window):
            return {**rest, **window}
    if isinstance(made.get("to"), str) and key_of(made["to"]) in _NOW and made.get("from"):
        del made["to"]
    for end in ("from", "to"):
        # `{"from": "2025"}`: the first day of it; as the end of a range, its last.
        window = window_in(made.get(end)) if isinstance(made.get(end), int | str) else None
        if window is not None and end in window:
            made[end] = window[end]
    return made


def _units_of(window: Json) -> tuple[Any, ...]:
    """What `unit` may say beside a named window without another meaning."""
    named = window.get("unit") or str(window.get("period", "")).partition("_")[2]
    return (None, named, window.get("unit"))
