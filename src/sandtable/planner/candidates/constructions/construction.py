"""The result of a rule: simpler questions and a function from their plans to the plan; or two readings to choose from.

Invariant: a rule is pure. It reads the words and the schema; the simpler questions are planned elsewhere.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from sandtable.planner.language.reading import Reading
from sandtable.planner.mentions.matching import find_mentions
from sandtable.planner.schema.entries import ColumnEntry, Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex

_AGGREGATED = frozenset({"sum", "avg", "min", "max", "median"})


@dataclass(frozen=True, slots=True)
class Construction:
    parts: tuple[str, ...]
    """Simpler questions."""
    build: Callable[[Sequence[Json]], Json | None]
    """The plan, given theirs in the same order; None when they do not fit together. May mutate its arguments."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """The words may mean several things that are equally near: the user is asked, and the readings are offered."""

    words: str
    readings: tuple[str, ...]
    names: tuple[str, ...]
    """What the words may mean, in the words of the clarifying question."""


Rule = Callable[[Reading, SchemaIndex], Iterator[Construction | Doubt]]


def said_otherwise(reading: Reading, start: int, end: int, text: str = "") -> str:
    """The question with other words in place of these, or without them."""
    before = reading.text[: reading.words[start].start] if start < len(reading) else reading.text
    after = reading.text[reading.words[end - 1].end :] if end > 0 else reading.text
    joined = " ".join(f"{before} {text} {after}".split())
    for mark in "?.,:;":
        joined = joined.replace(f" {mark}", mark)
    return joined.lstrip(",.:; ")


def as_it_is(plans: Sequence[Json]) -> Json:
    return copy.deepcopy(plans[0])


def columns_in(text: str, index: SchemaIndex, table: TableEntry | None = None) -> list[ColumnEntry]:
    """The columns that a short text may name, best first."""
    found = [m.target for m in find_mentions(Reading.of(text), index) if isinstance(m.target, ColumnEntry)]
    kept = [c for c in found if table is None or c.table == table.name]
    return list(dict.fromkeys(kept))


def home_of(plan: Json, index: SchemaIndex) -> TableEntry | None:
    return index.table(str(plan.get("table", "")))


def with_filter(plan: Json, condition: Json) -> Json:
    return {**plan, "filters": [*plan.get("filters", ()), condition]}


def rows_of(plan: Json) -> Json:
    """The conditions and the time of a plan, for an aggregate that would otherwise be over all rows."""
    time = [{"time": plan["time"]}] if "time" in plan else []
    where = [*plan.get("filters", ()), *time]
    return {"where": where} if where else {}


def count_of(plan: Json) -> Json | None:
    """The one count that a plan computes: of rows, or of different values."""
    measures = [item for item in plan["select"] if _computes(item)]
    if len(measures) != 1 or "where" in measures[0]:
        return None
    return measures[0] if measures[0].get("agg") in {"count", "count_distinct"} else None


def measured_column(plan: Json, index: SchemaIndex) -> str | None:
    """The one column that a plan aggregates, as the plan names it."""
    measures = [item for item in plan["select"] if _computes(item)]
    if len(measures) != 1:
        return None
    item = measures[0]
    if item.get("agg") in _AGGREGATED and "column" in item:
        return str(item["column"])
    metric = next((m.metric for m in index.metrics if m.metric.name == item.get("metric")), None)
    if metric is None or metric.denominator is not None or metric.numerator.get("where"):
        return None
    column = metric.numerator.get("column")
    return str(column) if column else None


def measure_in(plan: Json) -> Json | None:
    """The one item that a plan computes."""
    measures = [item for item in plan["select"] if _computes(item)]
    return measures[0] if len(measures) == 1 else None


def _computes(item: Json) -> bool:
    return any(key in item for key in ("agg", "metric", "op", "holds"))


def with_measure(plan: Json, old: Json, new: Json) -> Json:
    """The plan with another measure in a place, and its order by that one."""
    select = [new if item is old else item for item in plan["select"]]
    changed = {**plan, "select": select}
    name = old.get("as") or old.get("metric")
    if name and name != new.get("as"):
        changed = _renamed(changed, str(name), str(new["as"]))
        changed["select"] = select
    return changed


def _renamed(plan: Json, old: str, new: str) -> Json:
    def walk(value: object) -> object:
        if isinstance(value, dict):
            return {k: walk(v) for k, v in cast("Json", value).items()}
        if isinstance(value, list):
            return [walk(v) for v in cast("list[object]", value)]
        return new if value == old else value

    kept = {key: plan[key] for key in ("order_by", "derive", "having", "top_per_group") if key in plan}
    return {**plan, **{key: walk(value) for key, value in kept.items()}}
