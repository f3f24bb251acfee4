"""Names of output columns: the author's, or made up; always the same for the same plan.

Invariant: names are unique regardless of case, as DuckDB sees them.
"""

from __future__ import annotations

import re

from sandtable.catalog.units import split_unit
from sandtable.plan import derivations
from sandtable.plan.items import AggItem, AnyItem, ColumnItem, MetricItem, ValueOperand
from sandtable.plan.resolved import (
    Aggregate,
    Arithmetic,
    Bucket,
    ColumnRef,
    Converted,
    DayOf,
    Elapsed,
    Elements,
    Expr,
    OutputRef,
    Test,
    Value,
    Whole,
)

_WORDS = {"+": "plus", "-": "minus", "*": "times", "/": "per"}
_LONGEST = 100


def made_up(item: AnyItem, expr: Expr) -> str:
    """The name of an item without `as`, before clashes are resolved."""
    if isinstance(item, MetricItem):
        return item.metric
    return _tidy(_described(expr))


def likely_names(item: AnyItem) -> set[str]:
    """Names by which an author may refer to an item that failed to resolve, in lower case."""
    match item:
        case ValueOperand():
            return set()
        case _ if item.as_ is not None:
            return {item.as_.lower()}
        case MetricItem(metric=metric):
            return {metric.lower()}
        case ColumnItem(column=column):
            return {column.lower(), column.rpartition(".")[2].lower()}
        case AggItem(agg=agg, column=column) if column is not None:
            return {f"{agg}_{column.rpartition('.')[2]}".lower()}
        case _:
            return set()


def _described(expr: Expr) -> str:
    match expr:
        case ColumnRef(column=name) | OutputRef(name=name):
            return name
        case Value(value=value):
            return str(value)
        case Bucket(unit=unit, source=source):
            return f"{_described(source)}_{unit}"
        case Aggregate():
            return _aggregated(expr)
        case Arithmetic(op=op, left=left, right=right):
            return f"{_described(left)}_{_WORDS[op]}_{_described(right)}"
        case DayOf(source=source):
            return _described(source)
        case Whole(aggregate=aggregate, within=within):
            return "_".join(
                [_described(aggregate), "within" if within else "overall", *map(_described, within)]
            )
        case Elapsed(unit=unit, start=start, end=end):
            ends = [_described(side) for side in (start, end) if not isinstance(side, Value)]
            return f"{unit}s_{'_to_'.join(ends)}"
        case Converted(source=source, unit=unit):
            return f"{split_unit(_described(source))[0]}_{'percent' if unit == '%' else unit}"
        case Elements(source=source, each=each):
            return _described(source) if each else f"count_{_described(source)}"
        case Test():
            return "holds"
        case _:
            return "value"


def _aggregated(expr: Aggregate) -> str:
    match expr:
        case Aggregate(function="count", operand=None):
            return "count"
        case Aggregate(function="quantile", operand=operand, q=q) if operand is not None and q is not None:
            return f"p{round(q * 100, 4):g}_{_described(operand)}".replace(".", "_", 1)
        case Aggregate(function="correlation", operand=one, other=other) if (
            one is not None and other is not None
        ):
            return f"correlation_{_described(one)}_{_described(other)}"
        case Aggregate(function=function, operand=operand, distinct=distinct) if operand is not None:
            once = "_distinct" if distinct and function != "count_distinct" else ""
            return f"{function}{once}_{_described(operand)}"
        case _:
            return "value"


def _tidy(name: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]", " ", name).strip()[:_LONGEST].strip() or "column"


def derived_name(item: derivations.Derivation, expr: Expr | None = None) -> str:
    """`expr` is what an expression was resolved to."""
    source = derivations.source_of(item)
    match item:
        case derivations.ShareOfTotal():
            return f"{source}_share"
        case derivations.Change(kind="percent"):
            return f"{source}_change_percent"
        case derivations.Rank() | derivations.Change() | derivations.RunningTotal() | derivations.Position():
            return f"{source}_{item.shape.strip('<>')}"
        case derivations.ZScore():
            return f"{source}_zscore"
        case derivations.Previous():
            return f"previous_{source}"
        case derivations.Next():
            return f"next_{source}"
        case derivations.Run():
            return "run"
        case _:
            return made_up(item, expr) if expr is not None else "value"


def settle(wanted: str, taken: set[str]) -> str:
    """`wanted`, or `wanted_2`, `wanted_3` … when another column has that name. Adds it to `taken`."""
    name, count = wanted, 1
    while name.lower() in taken:
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name.lower())
    return name
