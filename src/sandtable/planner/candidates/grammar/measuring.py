"""Counts, aggregates and metrics as select items, and the words that ask for them."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Condition, Draft, Measure, Spot
from sandtable.planner.language.vocabulary import AGGREGATES
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_unique
from sandtable.planner.schema.entries import ColumnEntry, Json, MetricEntry, TableEntry

_DAYS = frozenset(stem(w) for w in "date day month year time".split())
_BETWEEN_AGG = frozenset("of the a an all value values for in their its".split())
_SUPERLATIVE_AGG = {
    "highest": "max", "largest": "max", "greatest": "max", "biggest": "max", "longest": "max", "latest": "max",
    "lowest": "min", "smallest": "min", "fewest": "min", "shortest": "min", "earliest": "min",
}  # fmt: skip


def aggregate_before(draft: Draft, spot: Spot) -> str:
    """The aggregate whose word stands before a spot: `average [of the] rating`."""
    at = spot.start - 1
    passed = 0
    while at >= 0 and draft.reading.lower(at) in _BETWEEN_AGG and passed < 3:
        at, passed = at - 1, passed + 1
    word = draft.reading.lower(at)
    return AGGREGATES.get(word, "") if at >= 0 and draft.ending(at + 1) is None else ""


def superlative_aggregate(word: str) -> str:
    return _SUPERLATIVE_AGG.get(word, "")


def metric_measure(metric: MetricEntry, start: int) -> Measure:
    return Measure({"metric": metric.metric.name, "as": metric.metric.name}, start, metric=metric)


def agg_measure(draft: Draft, agg: str, column: ColumnEntry, start: int, q: float | None = None) -> Measure:
    prefix = {"avg": "average", "sum": "total"}.get(agg, agg)
    if q is not None:
        prefix = f"p{q * 100:g}".replace(".", "_")
    item: Json = {"agg": agg, "column": draft.ref(column), "as": f"{prefix}_{column.name}"[:100]}
    if q is not None:
        item["q"] = q
    return Measure(item, start, column)


def count_measure(draft: Draft, spot: Spot | None, *, distinct: bool, start: int = 0) -> Measure:
    """How many rows, or how many different ones of what a spot names."""
    where = spot.start if spot else start
    if spot is None:
        return Measure({"agg": "count", "as": "count"}, where)
    if spot.table is not None:
        return _count_of_table(draft, spot.table, where)
    column = spot.column
    if column is None:
        return Measure({"agg": "count", "as": "count"}, where)
    if is_unique(column, draft.home) and not distinct:
        return Measure({"agg": "count", "as": "count"}, where)
    if column.temporal and not distinct and not _names_a_day(draft, spot):
        # What happened is counted, not the days on which it did.
        return Measure({"agg": "count", "column": draft.ref(column), "as": "count"}, where, column)
    if _mostly_empty(draft, column) and draft.reading.lower(where - 1) not in {
        "different",
        "distinct",
        "unique",
    }:
        # What most rows lack (an error, a fault) is counted each time it occurs.
        name = f"number_of_{column.name}"[:100]
        return Measure({"agg": "count", "column": draft.ref(column), "as": name}, where, column)
    return Measure(
        {"agg": "count_distinct", "column": draft.ref(column), "as": f"number_of_{column.name}"[:100]},
        where,
        column,
    )


def _names_a_day(draft: Draft, spot: Spot) -> bool:
    said = {draft.reading.words[at].stem for at in range(spot.start, spot.end)}
    return bool(said & _DAYS)


def _mostly_empty(draft: Draft, column: ColumnEntry) -> bool:
    rows = draft.home.rows if column.table == draft.home.name else None
    return column.profile is not None and bool(rows) and column.profile.nulls > (rows or 0) / 2


def _count_of_table(draft: Draft, table: TableEntry, start: int) -> Measure:
    if table.name == draft.home.name:
        return Measure({"agg": "count", "as": "count"}, start)
    for relation in draft.index.dataset.relationships:
        if relation.many_table == draft.home.name and relation.one_table == table.name:
            column = draft.home.column(relation.many_column)
            if column is not None:
                name = f"number_of_{table.name}"[:100]
                return Measure({"agg": "count_distinct", "column": column.name, "as": name}, start, column)
    return Measure({"agg": "count", "as": "count"}, start)


def share_measure(over: list[Condition], start: int) -> Measure:
    """The part of the rows for which all of the conditions hold."""
    where = [c.json for c in over]
    item: Json = {
        "op": "/",
        "left": {"agg": "count", "where": where},
        "right": {"agg": "count"},
        "as": "share",
    }
    return Measure(item, start)
