"""Derived columns and top-n-per-group → window functions.

Invariant: wherever the order of rows decides a value, the order is total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from sandtable.engines import nodes as w
from sandtable.engines.spelling import Operand, Spelling
from sandtable.plan.resolved import Derived, OutputRef, Top
from sandtable.sql.expressions import ExpressionWriter

Named = Callable[[str], exp.Expr]
"""How an output column is written in the query at hand."""


def derived_column(
    item: Derived, keys: Iterable[str], named: Named, placed: Named, writer: ExpressionWriter
) -> exp.Expr:
    """`placed` is what a column is sorted by: itself, or its place in the calendar."""
    if item.expr is not None:
        return writer.write(item.expr)
    source = named(item.source)
    groups = [named(name) for name in item.within]
    spelling = writer.spelling
    match item.kind:
        case "share_of_total":
            return spelling.quotient(source, _aggregate("sum", item, named, writer, groups))
        case "rank":
            return _over(w.function("RANK"), groups, [_ordered(placed(item.source), item.descending)])
        case "zscore":
            mean = _aggregate("avg", item, named, writer, groups)
            spread = _aggregate("stddev", item, named, writer, [g.copy() for g in groups])
            return spelling.quotient(exp.Sub(this=source, expression=mean), spread)
        case "running_total":
            return _aggregate("sum", item, named, writer, groups, _walk(item, keys, placed))
        case "change":
            return _change(item, keys, named, placed, spelling)
        case "previous":
            return _over(w.function("LAG", source), groups, _walk(item, keys, placed))
        case "next":
            return _over(w.function("LEAD", source), groups, _walk(item, keys, placed))
        case "position":
            first, *rest = _walk(item, keys, placed)
            first.set("desc", item.descending or None)
            return _over(w.function("ROW_NUMBER"), groups, [first, *rest])
        case _:
            return _of_run(item, keys, named, placed, writer)


def _aggregate(
    function: str,
    item: Derived,
    named: Named,
    writer: ExpressionWriter,
    groups: list[exp.Expr],
    along: list[exp.Expr] | None = None,
) -> exp.Expr:
    """Of the values of the item's source: of all, or of those up to this row along an order."""

    def over(call: exp.Expr) -> exp.Expr:
        copied = [term.copy() for term in along] if along is not None else None
        return _over(call, [group.copy() for group in groups], copied, running=along is not None)

    source = OutputRef(item.source, item.type)
    operand = Operand(named(item.source), lambda: writer.types(source))
    return writer.spelling.aggregate(function, operand, over)


def _of_run(
    item: Derived, keys: Iterable[str], named: Named, placed: Named, writer: ExpressionWriter
) -> exp.Expr:
    """A run of rows, or one of its helpers."""
    source = named(item.source)
    groups = [named(name) for name in item.within]
    match item.kind:
        case "broken":
            return _broken(item, keys, named, placed, writer.spelling)
        case "block":
            return _aggregate("sum", item, named, writer, groups, _walk(item, keys, placed))
        case "run":
            held = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=named(item.source)))
            count = _over(held, groups, _walk(item, keys, placed), running=True)
            return exp.Case(ifs=[exp.If(this=source, true=count)], default=w.number(0))
        case kind:
            raise AssertionError(f"{kind} is not written here")


def _broken(item: Derived, keys: Iterable[str], named: Named, placed: Named, spelling: Spelling) -> exp.Expr:
    """1 where a run cannot go on from the previous row: the condition fails, or a step was left out."""
    goes_on = named(item.source)
    if item.step is not None and item.along is not None:
        before = _over(
            w.function("LAG", named(item.along)), [named(n) for n in item.within], _walk(item, keys, placed)
        )
        apart = spelling.crossed(item.step, before, named(item.along))
        goes_on = exp.And(this=goes_on, expression=exp.EQ(this=apart, expression=w.number(1)))
    return exp.Case(ifs=[exp.If(this=goes_on, true=w.number(0))], default=w.number(1))


def _change(item: Derived, keys: Iterable[str], named: Named, placed: Named, spelling: Spelling) -> exp.Expr:
    keys = tuple(keys)

    def previous() -> exp.Expr:
        if item.earlier is not None:
            return named(item.earlier)
        groups = [named(name) for name in item.within]
        return _over(w.function("LAG", named(item.source)), groups, _walk(item, keys, placed))

    difference = exp.Sub(this=named(item.source), expression=previous())
    # A fall from -10 to -20 is a fall: the sign comes from the difference alone.
    return spelling.quotient(difference, exp.Abs(this=previous())) if item.percent else difference


def _walk(item: Derived, keys: Iterable[str], placed: Named) -> list[exp.Expr]:
    along = item.along or item.source
    rest = [name for name in keys if name != along and name not in item.within]
    return [_ordered(placed(name), False) for name in (along, *rest)]


def first_rows(top: Top, keys: Iterable[str], named: Named, placed: Named) -> exp.LTE:
    """The condition that keeps the first n rows of each group."""
    rest = [name for name in keys if name != top.order_by and name not in top.by]
    order = [
        _ordered(placed(top.order_by), top.descending),
        *(_ordered(placed(name), False) for name in rest),
    ]
    groups = [named(name) for name in top.by]
    place = (
        _over(w.function("RANK"), groups, order[:1])
        if top.ties
        else _over(w.function("ROW_NUMBER"), groups, order)
    )
    return exp.LTE(this=place, expression=w.number(top.n))


def first_with_ties(order: list[exp.Expr], n: int) -> exp.LTE:
    """The condition that keeps the first n rows and those that equal the last of them."""
    return exp.LTE(this=_over(w.function("RANK"), [], order), expression=w.number(n))


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
