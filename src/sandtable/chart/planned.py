"""What the plan tells about each column of its result, by position.

A plan's output is its group keys that are not selected, then its select items, then its derived
columns. Total: a plan that does not fit the columns tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from sandtable.catalog.units import canonical

Kind = Literal["unknown", "key", "plain", "bucket", "agg", "metric", "arithmetic", "derived"]

_DERIVED = (
    "share_of_total", "rank", "change", "running_total", "zscore", "previous", "next", "position", "run", "agg",
    "elapsed", "holds",
)  # fmt: skip
BETWEEN_COLUMNS = "change_from"
"""A change from one column of a row to another: the chart shows both, and the reader sees the change."""
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of one column."""

    kind: Kind = "unknown"
    what: str = ""
    """The bucket's unit, the aggregate, or the kind of derivation."""
    source: str = ""
    """The column that is bucketed or aggregated; `*` for rows."""
    named: bool = False
    """The author chose the column's name."""
    percent: bool = False
    """A fraction, by construction."""
    q: float | None = None
    unit: str = ""
    """The unit that the plan gives the value in."""


@dataclass(frozen=True, slots=True)
class Words:
    """What the plan is in words, for the title. Where they are missing, the names of the columns are said."""

    columns: tuple[str, ...] = ()
    """What each column of the result is."""
    head: str = ""
    """What is shown, where the columns do not say it."""
    scope: str = ""
    """For which time and under which conditions."""


NO_WORDS = Words()


@dataclass(frozen=True, slots=True)
class Reading:
    columns: tuple[Told, ...]
    grouped: bool | None
    """Nothing is known without a plan."""
    table: str = ""
    order_by: str = ""
    cut: bool = False
    """Rows may be missing: a limit was reached, or groups were dropped."""
    words: Words = NO_WORDS


def read(plan: Mapping[str, Any] | None, width: int, rows: int) -> Reading:
    unknown = Reading((Told(),) * width, None)
    if plan is None:
        return unknown
    if isinstance(plan.get("why"), Mapping):
        return _of_why(width)
    select, derive = _items(plan.get("select")), _items(plan.get("derive"))
    if not select or any(item.get("column") == "*" and "agg" not in item for item in select):
        return unknown
    front = width - len(select) - len(derive)
    if front < 0:
        return unknown
    grouped = bool(plan.get("group_by")) or any(_aggregates(item) for item in select)
    keys = _front_keys(plan.get("group_by"), front)
    told = (*keys, *(_selected(item, grouped) for item in select), *map(_derived, derive))
    order = _items(plan.get("order_by"))
    limit = plan.get("limit")
    reached = isinstance(limit, int | float) and rows >= limit
    return Reading(
        told,
        grouped,
        table=_text(plan.get("table")),
        order_by=_text(order[0].get("expr")) if order else "",
        cut=reached or bool(plan.get("having")) or bool(plan.get("top_per_group")),
    )


def _of_why(width: int) -> Reading:
    """Dimension and member, then values of which the contribution is what the chart is about."""
    values = [Told("plain"), Told("plain"), Told("derived", "contribution")]
    values += [Told("derived", "effect")] * (width - 6) + [Told("derived", "share_of_total", percent=True)]
    told = (Told("key"), Told("key"), *values)
    return Reading(told if len(told) == width else (Told(),) * width, grouped=True, order_by="contribution")


def _items(given: Any) -> list[Mapping[str, Any]]:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        return []
    items = cast(Sequence[Any], given)
    return [cast(Mapping[str, Any], item) for item in items if isinstance(item, Mapping)]


def _text(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _front_keys(group_by: Any, count: int) -> tuple[Told, ...]:
    """Keys that are not selected stand in front; which of them is not needed to know that they are keys."""
    buckets = [item for item in _items(group_by) if "bucket" in item]
    if count == 1 and len(buckets) == 1:
        return (_selected(buckets[0], True),)
    return (Told("key"),) * count


def _aggregates(item: Mapping[str, Any], depth: int = 0) -> bool:
    if "agg" in item or "metric" in item:
        return not isinstance(item.get("within"), list | tuple)
    sides = (item.get("left"), item.get("right"), item.get("from"), item.get("to"), item.get("of"))
    return depth < _DEEPEST and any(
        _aggregates(cast(Mapping[str, Any], side), depth + 1) for side in sides if isinstance(side, Mapping)
    )


def _selected(item: Mapping[str, Any], grouped: bool) -> Told:
    told = _of_shape(item, grouped)
    unit = _elapsed(item) or _text(item.get("unit"))
    if not unit and item.get("agg") not in ("count", "count_distinct"):
        unit = _elapsed(item.get("of"))
    return replace(told, unit=canonical(unit)) if unit else told


def _elapsed(item: Any) -> str:
    """The unit of elapsed time."""
    unit = _text(cast(Mapping[str, Any], item).get("elapsed")) if isinstance(item, Mapping) else ""
    return f"{unit}s" if unit else ""


def _of_shape(item: Mapping[str, Any], grouped: bool) -> Told:
    named = isinstance(item.get("as"), str)
    source = _text(item.get("column")).rpartition(".")[2]
    if "bucket" in item:
        return Told("bucket", _text(item["bucket"]), source, named)
    if "agg" in item and not _aggregates(item):
        return Told("key" if grouped else "plain", source=source, named=named)
    if "agg" in item:
        q = item.get("q")
        level = float(q) if isinstance(q, int | float) else None
        rows = "" if "of" in item else "*"
        return Told("agg", _text(item["agg"]), source or rows, named, q=level)
    if "metric" in item:
        return Told("metric", _text(item["metric"]), "", named)
    if "op" in item or "elapsed" in item:
        return Told("arithmetic" if not grouped or _aggregates(item) else "key", named=named)
    counted = "elements" in item and item.get("take") == "count"
    return Told("key" if grouped else "arithmetic" if counted else "plain", source=source, named=named)


def _derived(item: Mapping[str, Any]) -> Told:
    what = next((name for name in _DERIVED if name in item), "expression")
    percent = what == "share_of_total" or (what == "change" and item.get("kind") == "percent")
    source = _text(item.get("column") if what == "agg" else item.get(what))
    if what == "change" and "from" in item:
        what = BETWEEN_COLUMNS
    return Told("derived", what, source, isinstance(item.get("as"), str), percent, unit=_elapsed(item))
