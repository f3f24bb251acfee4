"""The names of a dataset's sales, its pieces sold and its customers' satisfaction, in the words of a question.

Declared metrics first; else the columns whose names say so. One name for each thing that could be meant.
"""

from __future__ import annotations

from sandtable.catalog.measures import End, MeasureKind, bad_end, measure_kind
from sandtable.catalog.model import Column, Metric
from sandtable.planner.language.words import stem
from sandtable.planner.schema.entries import ColumnEntry
from sandtable.planner.schema.index import SchemaIndex

_CURRENCIES = frozenset("EUR USD GBP CHF JPY € $ £".split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


_STRONG = _stems("revenue sales amount turnover takings total")
_OF_SALES = _STRONG | _stems(
    "order line invoice item ticket purchase net gross price paid value sold eur usd gbp chf"
)
"""Words of a column that holds what was sold, and not what was claimed, lent or given."""
_SIDE = _stems("fee tax cost discount tip shipping budget target salary price balance")
_PIECES = _stems("quantity qty units copies pieces sold")
_SCORES = _stems("csat satisfaction nps happiness rating")


def amounts(index: SchemaIndex) -> list[str]:
    """What is taken in, in words that name it: a metric, else the only column that is called an amount."""
    metrics = [m for m in index.metrics if _adds(m.metric) and m.metric.format == "currency"]
    if metrics:
        return [" ".join(m.words) for m in metrics]
    numbers = [
        c for c in _additive(index) if not set(c.stems) & (_SIDE | _PIECES) and set(c.stems) <= _OF_SALES
    ]
    strong = [c for c in numbers if set(c.stems) & _STRONG]
    if len(strong) > 1:
        strong = [c for c in strong if set(c.stems) <= _STRONG] or strong
    money = strong or [c for c in numbers if c.unit in _CURRENCIES]
    return [_total(c) for c in money]


def pieces(index: SchemaIndex) -> list[str]:
    """How many were sold, where that is counted in a column or a metric of its own."""
    metrics = [m for m in index.metrics if _adds(m.metric) and set(m.stems) & _PIECES]
    if metrics:
        return [" ".join(m.words) for m in metrics]
    return [_total(c) for c in _additive(index) if set(c.stems) & _PIECES]


def satisfaction(index: SchemaIndex) -> list[str]:
    """The scores that customers gave."""
    found = [c for t in index.tables for c in t.columns if c.numeric and set(c.stems) & _SCORES]
    return [" ".join(c.words) for c in found]


def bad_end_of(column: ColumnEntry, index: SchemaIndex) -> End | None:
    """Which end of a column's numbers is the worst; None when unknown."""
    declared = _declared(index, column)
    return bad_end(declared) if declared is not None else None


def is_averaged(column: ColumnEntry, index: SchemaIndex) -> bool:
    """Rates, scores, durations, ages: a sum of them means little."""
    declared = _declared(index, column)
    return declared is not None and measure_kind(declared, column.profile) is MeasureKind.AVERAGED


def _total(column: ColumnEntry) -> str:
    words = " ".join(column.words)
    return words if "total" in column.words else f"total {words}"


def _adds(metric: Metric) -> bool:
    return metric.denominator is None and metric.numerator.get("agg") == "sum"


def _additive(index: SchemaIndex) -> list[ColumnEntry]:
    found: list[ColumnEntry] = []
    for table in index.tables:
        for column in table.columns:
            declared = _declared(index, column)
            if column.numeric and declared and measure_kind(declared, column.profile) is MeasureKind.ADDITIVE:
                found.append(column)
    return found


def _declared(index: SchemaIndex, column: ColumnEntry) -> Column | None:
    table = index.dataset.table(column.table)
    return next((c for c in table.columns if c.name == column.name), None) if table else None
