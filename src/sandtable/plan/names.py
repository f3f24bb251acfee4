"""Names of output columns: the author's, or made up; always the same for the same plan.

Invariant: names are unique regardless of case, as DuckDB sees them.
"""

from __future__ import annotations

import re

from sandtable.plan import derivations
from sandtable.plan.items import AggItem, AnyItem, ColumnItem, MetricItem, ValueOperand
from sandtable.plan.resolved import Aggregate, Arithmetic, Bucket, ColumnRef, DayOf, Expr, OutputRef, Value

_WORDS = {"+": "plus", "-": "minus", "*": "times", "/": "per"}
_LONGEST = 100


def made_up(item: AnyItem, expr: Expr) -> str:
    """What an item without `as` is called, before clashes are settled."""
    if isinstance(item, MetricItem):
        return item.metric
    return _tidy(_described(expr))


def likely_names(item: AnyItem) -> set[str]:
    """What an author may call an item that failed to resolve, in lower case."""
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
        case ColumnRef(column=column):
            return column
        case OutputRef(name=name):
            return name
        case Value(value=value):
            return str(value)
        case Bucket(unit=unit, source=source):
            return f"{source.column}_{unit}"
        case Aggregate(function="count", operand=None):
            return "count"
        case Aggregate(function="quantile", operand=operand, q=q) if operand is not None and q is not None:
            return f"p{round(q * 100, 4):g}_{_described(operand)}".replace(".", "_", 1)
        case Aggregate(function=function, operand=operand, distinct=distinct) if operand is not None:
            once = "_distinct" if distinct and function != "count_distinct" else ""
            return f"{function}{once}_{_described(operand)}"
        case Arithmetic(op=op, left=left, right=right):
            return f"{_described(left)}_{_WORDS[op]}_{_described(right)}"
        case DayOf(source=source):
            return _described(source)
        case _:
            return "value"


def _tidy(name: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]", " ", name).strip()[:_LONGEST].strip() or "column"


def derived_name(item: derivations.Derivation) -> str:
    match item:
        case derivations.ShareOfTotal(share_of_total=source):
            return f"{source}_share"
        case derivations.Rank(rank=source):
            return f"{source}_rank"
        case derivations.Change(change=source, kind=kind):
            return f"{source}_change_percent" if kind == "percent" else f"{source}_change"
        case derivations.RunningTotal(running_total=source):
            return f"{source}_running_total"
        case derivations.ZScore(zscore=source):
            return f"{source}_zscore"


def settle(wanted: str, taken: set[str]) -> str:
    """`wanted`, or `wanted_2`, `wanted_3` … when another column has that name. Adds it to `taken`."""
    name, count = wanted, 1
    while name.lower() in taken:
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name.lower())
    return name
