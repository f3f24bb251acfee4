"""The unit of a computed value: what a column's unit becomes in aggregates, metrics and arithmetic.

`fraction` is a share (0.25 is 25 %), `%` a number already in percent, and no unit is an empty text.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.catalog.units import conversion, split_unit, units_like
from sandtable.plan.resolved import (
    Aggregate,
    Arithmetic,
    ColumnRef,
    Converted,
    Derived,
    Elapsed,
    Expr,
    OutputRef,
    ResolvedPlan,
    Value,
    Whole,
)
from sandtable.plan.walking import walk
from sandtable.quoting import quote

FRACTION = "fraction"
PERCENT = "%"
_COUNTED = frozenset({"", "units", "lines", "pieces", "items"})


def unit_of(expr: Expr, dataset: Dataset, units: Mapping[str, str] | None = None) -> str:
    """`units` are those of output columns, by name."""
    match expr:
        case OutputRef(name=name):
            return (units or {}).get(name, "")
        case Elapsed(unit=unit):
            return f"{unit}s"
        case Converted(unit=unit):
            return unit
        case Whole(aggregate=aggregate):
            return unit_of(aggregate, dataset, units)
        case ColumnRef(table=table_name, column=name):
            table = dataset.table(table_name)
            column = table.column(name) if table else None
            return column.unit if column else ""
        case Aggregate(function=function, operand=operand):
            if operand is None or function in ("count", "count_distinct", "correlation"):
                return ""
            if operand.type is ColumnType.BOOLEAN:
                return FRACTION if function == "avg" else ""
            return unit_of(operand, dataset, units)
        case Arithmetic(op="/", left=left, right=right):
            return FRACTION if _is_share(left, right) else _per(left, right, dataset, units)
        case Arithmetic(op="*", left=left, right=right):
            return _times(left, right, dataset, units)
        case Arithmetic(left=left, right=right):
            both = {unit_of(side, dataset, units) for side in (left, right) if not isinstance(side, Value)}
            return both.pop() if len(both) == 1 else ""
        case _:
            return ""


def units_of(plan: ResolvedPlan, dataset: Dataset) -> dict[str, str]:
    """The units of the columns of a plan's result, by name."""
    units = {
        output.name: FRACTION if output.format == "percent" else unit_of(output.expr, dataset)
        for output in plan.outputs
    }
    for derived in plan.shown:
        units[derived.name] = _unit_of_derived(derived, units, dataset)
    return units


def _unit_of_derived(derived: Derived, units: Mapping[str, str], dataset: Dataset) -> str:
    """`units` are those of the columns before it, by name."""
    if derived.kind == "share_of_total" or derived.percent:
        return FRACTION
    if derived.kind == "expression" and derived.expr is not None:
        return unit_of(derived.expr, dataset, units)
    if derived.kind == "run" and derived.step is not None:
        return f"{derived.step}s"
    kept = derived.kind in ("change", "running_total", "previous", "next")
    return units.get(derived.source, "") if kept else ""


def converted(expr: Expr, wanted: str, dataset: Dataset) -> Converted | tuple[str, str]:
    """The expression in another unit, or what is wrong with that and what to do."""
    unit = unit_of(expr, dataset) or _unit_in_name(expr)
    if not unit:
        return f"this has no known unit, so it cannot be given in {quote(wanted)}", "Leave `unit` out."
    way = conversion(unit, wanted)
    if way is None:
        choices = ", ".join(units_like(unit))
        hint = f"It can be given in: {choices}." if choices else "Leave `unit` out."
        return f"{quote(unit)} cannot be given in {quote(wanted)}", hint
    functions = {part.function for part in walk(expr) if isinstance(part, Aggregate)}
    if way.offset and "sum" in functions:
        return f"a sum cannot be given in {quote(wanted)}, which has another zero", "Use an average."
    offset = Fraction(0) if "stddev" in functions else way.offset
    return Converted(expr, *_scaled(expr, way.factor, offset, way.unit))


def _scaled(expr: Expr, factor: Fraction, offset: Fraction, unit: str) -> tuple[Expr, str, ColumnType]:
    made: Expr = expr
    if factor.numerator != 1:
        exact = ColumnType.DECIMAL if made.type is ColumnType.DECIMAL else made.type
        made = Arithmetic("*", made, Value(factor.numerator, ColumnType.INTEGER), exact)
    if factor.denominator != 1:
        made = Arithmetic("/", made, Value(factor.denominator, ColumnType.INTEGER), ColumnType.FLOAT)
    if offset:
        made = Arithmetic("+", made, Value(float(offset), ColumnType.FLOAT), ColumnType.FLOAT)
    return made, unit, made.type


def _unit_in_name(expr: Expr) -> str:
    """Of the one column that a value or an aggregate is about."""
    match expr:
        case ColumnRef(column=name) | OutputRef(name=name):
            return split_unit(name)[1]
        case Aggregate(function=function, operand=operand) if operand is not None:
            return "" if function in ("count", "count_distinct", "correlation") else _unit_in_name(operand)
        case Whole(aggregate=aggregate):
            return _unit_in_name(aggregate)
        case _:
            return ""


_PARTED = frozenset({"count", "count_distinct", "sum"})
"""Aggregates whose value over some of the rows is part of the value over all rows."""


def _is_share(left: Expr, right: Expr) -> bool:
    """Whether left is a count of some rows over a count of all, or the same aggregate over some rows and over all."""
    if not isinstance(left, Aggregate) or not isinstance(right, Aggregate) or right.where is not None:
        return False
    if left.function != right.function or left.function not in _PARTED:
        return False
    counted = left.function == "count" and right.operand is None
    return counted or (left.operand == right.operand and left.where is not None)


def _per(left: Expr, right: Expr, dataset: Dataset, units: Mapping[str, str] | None) -> str:
    unit = unit_of(left, dataset, units)
    if isinstance(right, Value):
        return unit
    return unit if unit_of(right, dataset, units) in _COUNTED else ""


def _times(left: Expr, right: Expr, dataset: Dataset, units: Mapping[str, str] | None) -> str:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Value):
            unit = unit_of(other, dataset, units)
            return PERCENT if unit == FRACTION and one.value == 100 else unit
    both = [unit_of(left, dataset, units), unit_of(right, dataset, units)]
    kept = [unit for unit in both if unit not in _COUNTED and unit != FRACTION]
    return kept[0] if len(kept) == 1 else FRACTION if both == [FRACTION, FRACTION] else ""
