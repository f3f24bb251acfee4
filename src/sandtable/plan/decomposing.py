"""`why`: a measure, two periods and dimensions → a decomposition, and the output columns that it makes.

Invariant: only measures whose parts add up are accepted: sums, counts, what adds and scales those, and ratios of them.
"""

from __future__ import annotations

from dataclasses import replace

from sandtable.catalog.model import ColumnType
from sandtable.plan.expressions import Expressions
from sandtable.plan.items import MetricItem
from sandtable.plan.model import Why
from sandtable.plan.resolved import (
    Aggregate,
    Arithmetic,
    ColumnRef,
    Condition,
    Converted,
    Decomposition,
    Expr,
    Output,
    Value,
)
from sandtable.plan.timing import resolve_window
from sandtable.plan.units import FRACTION, unit_of
from sandtable.plan.windows import TimeWindow

ALL = "(all)"
"""The dimension and the member in the row for the whole."""


def resolve_why(why: Why, expressions: Expressions) -> Decomposition | None:
    """None after reporting what is wrong."""
    measure = expressions.item(why.of, "why.of")
    before = _window(why.before, "why.before", expressions)
    after = _window(why.after, "why.after", expressions)
    columns = [expressions.column(name, f"why.by[{n}]") for n, name in enumerate(why.by)]
    parts = _parts(measure) if measure is not None else None
    if measure is not None and parts is None:
        expressions.found.add(
            "why.of",
            "this measure cannot be taken apart exactly: its parts do not add up",
            "Use a sum, a count, an average, a metric of these, or a ratio of them.",
        )
    if parts is None or before is None or after is None or any(column is None for column in columns):
        return None
    dimensions: dict[ColumnRef, str] = {}
    for column in columns:
        if isinstance(column, ColumnRef):
            own = column.table == expressions.scope.table.name
            dimensions.setdefault(column, column.column if own else f"{column.table}.{column.column}")
    name = "changes"
    while expressions.scope.dataset.table(name) is not None:
        name += "_"
    return Decomposition(
        tuple((text, ref) for ref, text in dimensions.items()), parts[0], parts[1], before, after, name
    )


def _window(window: TimeWindow, place: str, expressions: Expressions) -> Condition | None:
    column = expressions.time_column(window.column, place)
    return resolve_window(window, column, expressions.scope.dataset, expressions.found, place)


def _parts(expr: Expr) -> tuple[Expr, Expr | None] | None:
    """What adds up, and what it is divided by."""
    if _adds_up(expr):
        return expr, None
    match expr:
        case Aggregate(function="avg", distinct=False, operand=operand) if operand is not None:
            total = ColumnType.INTEGER if operand.type is ColumnType.BOOLEAN else operand.type
            number = replace(expr, function="sum", type=total)
            return number, replace(expr, function="count", type=ColumnType.INTEGER)
        case Arithmetic(op="/", left=left, right=right) if _adds_up(left) and _adds_up(right):
            return left, right
        case _:
            return None


def _adds_up(expr: Expr) -> bool:
    match expr:
        case Aggregate(function="sum" | "count", distinct=False):
            return True
        case Arithmetic(op="+" | "-", left=left, right=right):
            return _adds_up(left) and _adds_up(right)
        case Arithmetic(op="*" | "/", left=left, right=Value()):
            return _adds_up(left)
        case Arithmetic(op="*", left=Value(), right=right):
            return _adds_up(right)
        case Converted(computed=computed):
            return _adds_up(computed)
        case _:
            return False


def outputs_of(made: Decomposition, why: Why, expressions: Expressions) -> tuple[Output, ...]:
    """The columns of the result; values have the unit of the measure."""
    type_ = made.number.type if made.base is None else ColumnType.FLOAT
    dataset = expressions.scope.dataset
    whole = made.number if made.base is None else Arithmetic("/", made.number, made.base, ColumnType.FLOAT)
    metric = dataset.metric(why.of.metric) if isinstance(why.of, MetricItem) else None
    unit = FRACTION if metric is not None and metric.format == "percent" else unit_of(whole, dataset)

    def output(name: str, type_: ColumnType, *, valued: bool = True) -> Output:
        ref: Expr = ColumnRef(made.table, name, type_, type_.value.upper())
        if valued and unit:
            ref = Converted(ref, ref, unit, type_)
        return Output(name, ref, key=False)

    names = [
        "before",
        "after",
        "contribution",
        *(["rate_effect", "mix_effect"] if made.base is not None else []),
    ]
    return (
        output("dimension", ColumnType.TEXT, valued=False),
        output("member", ColumnType.TEXT, valued=False),
        *(output(name, type_) for name in names),
        replace(output("share_of_change", ColumnType.FLOAT, valued=False), format="percent"),
    )
