"""The unit of a computed value: what a column's unit becomes in aggregates, metrics and arithmetic.

`fraction` is a share (0.25 is 25 %), `%` a number already in percent, and no unit is an empty text.
"""

from __future__ import annotations

from sandtable.catalog.model import Dataset
from sandtable.plan.resolved import Aggregate, Arithmetic, ColumnRef, Derived, Expr, Output, Value

FRACTION = "fraction"
PERCENT = "%"
_COUNTED = frozenset({"", "units", "lines", "pieces", "items"})


def unit_of(expr: Expr, dataset: Dataset) -> str:
    match expr:
        case ColumnRef(table=table_name, column=name):
            table = dataset.table(table_name)
            column = table.column(name) if table else None
            return column.unit if column else ""
        case Aggregate(function=function, operand=operand):
            if operand is None or function in ("count", "count_distinct"):
                return ""
            return unit_of(operand, dataset)
        case Arithmetic(op="/", left=left, right=right):
            return FRACTION if _is_share(left, right) else _per(left, right, dataset)
        case Arithmetic(op="*", left=left, right=right):
            return _times(left, right, dataset)
        case Arithmetic(left=left, right=right):
            units = {unit_of(side, dataset) for side in (left, right) if not isinstance(side, Value)}
            return units.pop() if len(units) == 1 else ""
        case _:
            return ""


def unit_of_output(output: Output, dataset: Dataset) -> str:
    return FRACTION if output.format == "percent" else unit_of(output.expr, dataset)


def unit_of_derived(derived: Derived, units: dict[str, str]) -> str:
    """`units` are those of the columns before it, by name."""
    if derived.kind == "share_of_total" or derived.percent:
        return FRACTION
    return units.get(derived.source, "") if derived.kind in ("change", "running_total") else ""


def _is_share(left: Expr, right: Expr) -> bool:
    """Some rows counted, among all of those."""
    if not isinstance(left, Aggregate) or not isinstance(right, Aggregate):
        return False
    counts = {left.function, right.function} <= {"count"}
    return counts and right.operand is None and right.where is None


def _per(left: Expr, right: Expr, dataset: Dataset) -> str:
    unit = unit_of(left, dataset)
    if isinstance(right, Value):
        return unit
    return unit if unit_of(right, dataset) in _COUNTED else ""


def _times(left: Expr, right: Expr, dataset: Dataset) -> str:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Value):
            unit = unit_of(other, dataset)
            return PERCENT if unit == FRACTION and one.value == 100 else unit
    units = [unit_of(left, dataset), unit_of(right, dataset)]
    kept = [unit for unit in units if unit not in _COUNTED and unit != FRACTION]
    return kept[0] if len(kept) == 1 else FRACTION if units == [FRACTION, FRACTION] else ""
