"""What else a part of a plan could be: other plans that differ in that part, the likeliest first.

Invariant: pure; each function makes plans that may fit, and its caller keeps those that do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sandtable.catalog.measures import MeasureKind, measure_kind
from sandtable.planner.conscience.naming import LEAST, closeness, names_column
from sandtable.planner.schema.columns import is_measure
from sandtable.planner.schema.entries import ColumnEntry
from sandtable.planner.schema.index import SchemaIndex
from sandtable.wording.parts import PlanPart, PlanPath

Plan = dict[str, Any]
_ALIKE = 2
"""Columns or metrics that the same words could mean."""
_NUMBER_AGGS = ("sum", "avg", "median", "max", "min")
_BUCKETS = ("month", "quarter", "week", "year", "day")
_OPPOSITE = {
    "=": "!=",
    "!=": "=",
    "in": "not_in",
    "not_in": "in",
    "is_null": "not_null",
    "not_null": "is_null",
}
_NEXT = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}
_AROUND = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_FEW_VALUES = 60
_LIMITS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Other:
    plan: Plan
    without: bool = False
    """The part is left out."""


def plans_for(
    plan: Mapping[str, Any], part: PlanPart, stems: Sequence[str], index: SchemaIndex
) -> Iterator[Other]:
    """`stems` are those of the words that the part came from."""
    at = _At(_copied(dict(plan)), part.path, tuple(stems), index)
    match part.path:
        case ("select", int(_)) if part.kind == "measure":
            yield from _measures(at)
        case ("select" | "group_by", int(_)) if part.kind == "by":
            yield from _keys(at)
        case ("filters", int(_)) if part.kind == "where":
            yield from _conditions(at)
        case ("filters", int(_)) | ("having", int(_)):
            yield from _turned(at)
            yield at.without()
        case ("time",):
            yield from _windows(at)
        case ("order_by", int(_)):
            way = at.value.get("dir", "asc")
            yield at.with_value({**at.value, "dir": "asc" if way == "desc" else "desc"})
        case ("limit",):
            yield at.without("ties")
            yield from (at.with_value(number) for number in _LIMITS if number != at.value)
        case _:
            return


@dataclass(frozen=True, slots=True)
class _At:
    """A place in a plan, and what can be put there."""

    plan: Plan
    path: PlanPath
    stems: tuple[str, ...]
    index: SchemaIndex

    @property
    def value(self) -> Any:
        found: Any = self.plan
        for step in self.path:
            found = found[step]
        return found

    @property
    def columns(self) -> tuple[ColumnEntry, ...]:
        """Of the plan's own table."""
        table = self.index.table(str(self.plan.get("table", "")))
        return table.columns if table is not None else ()

    def with_value(self, value: Any, old: str = "", new: str = "") -> Other:
        """`old` and `new`: an output column that is called otherwise from now on, wherever the plan names it."""
        made = _copied(self.plan)
        home: Any = made
        for step in self.path[:-1]:
            home = home[step]
        home[self.path[-1]] = value
        if old and new and old.lower() != new.lower():
            for field in ("group_by", "derive", "having", "top_per_group", "order_by"):
                if field in made:
                    made[field] = _renamed(made[field], old.lower(), new)
        return Other(made)

    def without(self, *also: str) -> Other:
        made = _copied(self.plan)
        home: Any = made
        for step in self.path[:-1]:
            home = home[step]
        del home[self.path[-1]]
        field = str(self.path[0])
        for gone in (*also, field):
            if gone in made and (gone in also or not made[gone]):
                del made[gone]
        return Other(made, without=True)

    def alike(self, fits: Callable[[ColumnEntry], bool], own: str) -> list[ColumnEntry]:
        """Columns that the same words could mean, of this table before others."""
        scored: list[tuple[float, bool, int, ColumnEntry]] = []
        table = str(self.plan.get("table", "")).lower()
        for entry in self.index.tables:
            for column in entry.columns:
                here = column.table.lower() == table
                if not fits(column) or own in (column.name.lower() if here else "", column.ref.lower()):
                    continue
                score = max((names_column(stem, column) for stem in self.stems), default=0.0)
                if score >= LEAST:
                    scored.append((-score, not here, column.position, column))
        return [found[-1] for found in sorted(scored, key=lambda one: one[:3])][:_ALIKE]

    def ref(self, column: ColumnEntry) -> str:
        here = column.table.lower() == str(self.plan.get("table", "")).lower()
        return column.name if here else column.ref

    def column(self, ref: object) -> ColumnEntry | None:
        table, _, name = str(ref).rpartition(".")
        return self.index.column(table or str(self.plan.get("table", "")), name)


def _copied(node: Any) -> Any:
    """`deepcopy` for JSON, which has no cycles."""
    if isinstance(node, dict):
        return {key: _copied(inner) for key, inner in cast("dict[str, Any]", node).items()}
    if isinstance(node, list | tuple):
        return type(node)(map(_copied, cast("list[Any]", node)))
    return node


def _renamed(node: Any, old: str, new: str) -> Any:
    if isinstance(node, Mapping):
        return {key: inner if key == "as" else _renamed(inner, old, new) for key, inner in node.items()}
    if isinstance(node, list | tuple):
        return [_renamed(inner, old, new) for inner in node]
    bare = str(node).rpartition(".")[2].lower()
    return new if isinstance(node, str) and old in (node.lower(), bare) else node


def _called(item: Mapping[str, Any]) -> str:
    """What the rest of the plan calls an item of `select`."""
    for key in ("as", "metric"):
        if isinstance(item.get(key), str):
            return item[key]
    column = str(item.get("column", "")).rpartition(".")[2]
    return f"{item['agg']}_{column}".strip("_") if "agg" in item else column


def _measures(at: _At) -> Iterator[Other]:
    item = at.value
    old, base = _called(item), _computed(at)
    own, agg = str(base.get("column", "")).lower(), base.get("agg")

    def made(new: dict[str, Any]) -> Other:
        return at.with_value(new, old, _called(new))

    for metric in _metrics_alike(at, str(item.get("metric", ""))):
        yield made({"metric": metric})
    if agg in _NUMBER_AGGS and "column" in base and "of" not in base:
        kept = {key: base[key] for key in ("where",) if key in base}
        for column in at.alike(is_measure, own):
            yield made(_aggregate(_fitting(agg, column, at), at.ref(column), kept))
        seen = at.column(base["column"])
        for other in _NUMBER_AGGS:
            if other != agg and seen is not None and _fitting(other, seen, at) == other:
                yield made(_aggregate(other, base["column"], kept))
    elif agg == "count_distinct" or (agg == "count" and "column" not in base):
        for column in at.alike(lambda c: not c.temporal, own):
            yield made({"agg": "count_distinct", "column": at.ref(column), "as": f"{column.name}_count"})
        if agg == "count_distinct":
            yield made({"agg": "count", "as": "count"})
    for column in at.columns:
        if is_measure(column) and column.name.lower() != own and ("agg" in item or "metric" in item):
            usual = _fitting(agg if agg in _NUMBER_AGGS else "sum", column, at)
            yield made(_aggregate(usual, column.name, {}))


def _computed(at: _At) -> Mapping[str, Any]:
    """The aggregate that a measure is; of a metric that is no ratio, the one that it stands for."""
    item = at.value
    name = str(item.get("metric", "")).lower()
    metric = next((m.metric for m in at.index.metrics if m.metric.name.lower() == name), None)
    if metric is None or metric.denominator is not None:
        return item
    own = metric.table.lower() == str(at.plan.get("table", "")).lower()
    return metric.numerator if own and "where" not in item else item


def _fitting(agg: str, column: ColumnEntry, at: _At) -> str:
    """Rates, scores and durations are averaged where others are added up."""
    table = at.index.dataset.table(column.table)
    found = table.column(column.name) if table is not None else None
    averaged = found is not None and measure_kind(found, column.profile) is MeasureKind.AVERAGED
    return "avg" if agg == "sum" and averaged else agg


def _aggregate(agg: str, column: str, kept: dict[str, Any]) -> dict[str, Any]:
    name = f"{agg}_{column.rpartition('.')[2]}"
    return {"agg": agg, "column": column, **kept, "as": name}


def _metrics_alike(at: _At, own: str) -> list[str]:
    scored: list[tuple[float, str]] = []
    for entry in at.index.metrics:
        if entry.metric.name.lower() == own.lower():
            continue
        score = max((closeness(word, part) for word in at.stems for part in entry.stems), default=0.0)
        if score >= LEAST:
            scored.append((-score, entry.metric.name))
    return [name for _, name in sorted(scored)][:_ALIKE]


def _keys(at: _At) -> Iterator[Other]:
    item: dict[str, Any] = {"column": at.value} if isinstance(at.value, str) else at.value
    if "bucket" in item:
        yield from _buckets(at, item)
        return
    own = str(item.get("column", "")).lower()
    old = _called(item)

    def made(column: ColumnEntry) -> Other:
        ref = at.ref(column)
        return at.with_value(ref if isinstance(at.value, str) else {"column": ref}, old, ref)

    for column in at.alike(lambda c: c.text or c.boolean, own):
        yield made(column)
    for column in at.columns:
        few = column.profile is not None and 2 <= column.profile.distinct <= _FEW_VALUES
        if few and (column.text or column.boolean) and column.name.lower() != own:
            yield made(column)


def _buckets(at: _At, item: Mapping[str, Any]) -> Iterator[Other]:
    old = str(item.get("as") or item["bucket"])
    for unit in _BUCKETS:
        if unit != item["bucket"]:
            yield at.with_value({**item, "bucket": unit, "as": unit}, old, unit)
    for column in at.columns:
        if column.temporal and column.name.lower() != str(item.get("column", "")).lower():
            yield at.with_value({**item, "column": column.name})


def _conditions(at: _At) -> Iterator[Other]:
    leaf = at.value
    if not isinstance(leaf.get("column"), str):
        yield from _turned(at)
        yield at.without()
        return
    own, value = leaf["column"].lower(), leaf.get("value")
    seen = at.column(leaf["column"])
    if isinstance(value, str):
        for hit in at.index.find_value(value):
            column = at.index.column(hit.table, hit.column)
            if column is not None and own not in (column.name.lower(), column.ref.lower()):
                yield at.with_value({**leaf, "column": at.ref(column), "value": hit.value})
    elif seen is not None and seen.numeric:
        for column in at.alike(lambda c: c.numeric, own):
            yield at.with_value({**leaf, "column": at.ref(column)})
    yield from _turned(at)
    yield at.without()
    if isinstance(value, str) and leaf.get("op") == "=" and seen is not None and seen.profile is not None:
        for counted in seen.profile.values[:3]:
            if isinstance(counted.value, str) and counted.value != value:
                yield at.with_value({**leaf, "value": counted.value})


def _turned(at: _At) -> Iterator[Other]:
    """The opposite of a condition, and a comparison with or without the number itself."""
    leaf = at.value
    if isinstance(leaf.get("not"), Mapping):
        yield at.with_value(leaf["not"])
    elif "op" not in leaf:
        yield at.with_value({"not": leaf})
    elif leaf["op"] in _OPPOSITE:
        yield at.with_value({**leaf, "op": _OPPOSITE[leaf["op"]]})
    for table in (_NEXT, _AROUND):
        if leaf.get("op") in table:
            yield at.with_value({**leaf, "op": table[leaf["op"]]})


def _windows(at: _At) -> Iterator[Other]:
    window = at.value
    table = at.index.table(str(at.plan.get("table", "")))
    usual = (table.time_column or "") if table is not None else ""
    own = str(window.get("column") or usual).rpartition(".")[2].lower()
    for column in at.columns:
        if column.temporal and column.name.lower() != own:
            yield at.with_value({**window, "column": column.name})
    kept = {key: window[key] for key in ("column", "as_of") if key in window}
    period = str(window.get("period", ""))
    which, _, unit = period.partition("_")
    if unit:
        yield at.with_value({**kept, "period": f"{'this' if which == 'last' else 'last'}_{unit}"})
    if which == "last" and unit:
        yield at.with_value({**kept, "last": 1, "unit": unit})
    if window.get("last") == 1 and window.get("unit") in ("week", "month", "quarter", "year"):
        yield at.with_value({**kept, "period": f"last_{window['unit']}"})
    yield at.without()
