"""Derived columns and top-n-per-group → window functions.

Invariant: wherever the order of rows decides a value, the order is total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from sandtable.plan.resolved import Derived, Top
from sandtable.sql import writing as w

Named = Callable[[str], exp.Expr]
"""How an output column is written in the query at hand."""


def derived_column(item: Derived, keys: Iterable[str], named: Named) -> exp.Expr:
    source = named(item.source)
    groups = [named(name) for name in item.within]
    match item.kind:
        case "share_of_total":
            return w.divided(source, _over(w.function("SUM", named(item.source)), groups))
        case "rank":
            return _over(w.function("RANK"), groups, [_ordered(source, item.descending)])
        case "zscore":
            mean = _over(w.function("AVG", named(item.source)), groups)
            spread = _over(w.function("STDDEV_SAMP", named(item.source)), [g.copy() for g in groups])
            return w.divided(exp.Sub(this=source, expression=mean), spread)
        case "running_total":
            return _over(w.function("SUM", source), groups, _walk(item, keys, named), running=True)
        case "change":
            return _change(item, keys, named)


def _change(item: Derived, keys: Iterable[str], named: Named) -> exp.Expr:
    keys = tuple(keys)

    def previous() -> exp.Expr:
        groups = [named(name) for name in item.within]
        return _over(w.function("LAG", named(item.source)), groups, _walk(item, keys, named))

    difference = exp.Sub(this=named(item.source), expression=previous())
    # A fall from -10 to -20 is a fall: the sign comes from the difference alone.
    return w.divided(difference, exp.Abs(this=previous())) if item.percent else difference


def _walk(item: Derived, keys: Iterable[str], named: Named) -> list[exp.Expr]:
    along = item.along or item.source
    rest = [name for name in keys if name != along and name not in item.within]
    return [_ordered(named(name), False) for name in (along, *rest)]


def first_rows(top: Top, keys: Iterable[str], named: Named) -> exp.Expr:
    """The QUALIFY condition that keeps the first n rows of each group."""
    rest = [name for name in keys if name != top.order_by and name not in top.by]
    order = [_ordered(named(top.order_by), top.descending), *(_ordered(named(name), False) for name in rest)]
    place = _over(w.function("ROW_NUMBER"), [named(name) for name in top.by], order)
    return exp.LTE(this=place, expression=w.number(top.n))


def _ordered(node: exp.Expr, descending: bool) -> exp.Expr:
    return exp.Ordered(this=node, desc=descending or None)


def _over(
    call: exp.Expr,
    groups: list[exp.Expr],
    order: list[exp.Expr] | None = None,
    *,
    running: bool = False,
) -> exp.Expr:
    frame = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    return exp.Window(
        this=call,
        partition_by=groups or None,
        order=exp.Order(expressions=order) if order else None,
        spec=frame if running else None,
        over="OVER",
    )
