"""What an aggregate of a column is: its type, its conditions, and when it is likely not what was meant."""

from __future__ import annotations

from dataclasses import replace

from sandtable.catalog.measures import MeasureKind, measure_kind
from sandtable.catalog.model import ColumnType
from sandtable.plan import items as i
from sandtable.plan.conditions import NUMBERS, every
from sandtable.plan.findings import Findings
from sandtable.plan.resolved import Aggregate, Arithmetic, ColumnRef, Condition, Expr
from sandtable.plan.scope import TIME_TYPES, Scope
from sandtable.plan.walking import columns_read

_REPEATS_MATTER = frozenset({"sum", "avg", "count", "median", "stddev", "quantile", "correlation"})


def result_type(agg: i.AggName, operand: ColumnType) -> ColumnType | None:
    """The type of the aggregate over values of that type; None when it makes no sense."""
    match agg:
        case "count" | "count_distinct":
            return ColumnType.INTEGER
        case "min" | "max":
            return None if operand is ColumnType.OTHER else operand
        case "sum" if operand is ColumnType.BOOLEAN:
            return ColumnType.INTEGER
        case "sum" if operand in NUMBERS:
            return operand
        case "avg" if operand is ColumnType.BOOLEAN:
            return ColumnType.FLOAT
        case "median" | "quantile" if operand in TIME_TYPES:
            return ColumnType.TIMESTAMP
        case "median" | "quantile" if operand in NUMBERS:
            return operand if operand is ColumnType.DECIMAL else ColumnType.FLOAT
        case "avg" | "stddev" | "correlation" if operand in NUMBERS:
            return ColumnType.FLOAT
        case _:
            return None


def restricted(expr: Expr, condition: Condition) -> Expr:
    """The expression with every aggregate restricted to rows that pass the condition."""
    match expr:
        case Aggregate(where=where):
            return replace(expr, where=every([condition] if where is None else [where, condition]))
        case Arithmetic(left=left, right=right):
            return replace(expr, left=restricted(left, condition), right=restricted(right, condition))
        case _:
            return expr


def warn_of_repeats(item: i.AggItem, operand: Expr, base: str, found: Findings) -> None:
    tables = {column.table for column in columns_read(operand)}
    if not tables or base in tables or item.distinct or item.agg not in _REPEATS_MATTER:
        return
    for table in sorted(tables):
        found.warn(
            f"{item.agg} over {table} counts each of its rows once per row of {base}; "
            f"base the plan on {table} to count it once."
        )


def warn_of_kind(item: i.AggItem, operand: Expr, scope: Scope, found: Findings) -> None:
    """A sum of rates, durations or codes rarely is what was asked for."""
    if item.agg not in ("sum", "avg") or not isinstance(operand, ColumnRef) or operand.type not in NUMBERS:
        return
    if operand.table in scope.defined:
        return
    table = scope.dataset.table(operand.table)
    column = table.column(operand.column) if table else None
    kind = measure_kind(column) if column is not None else MeasureKind.ADDITIVE
    if kind is MeasureKind.IDENTIFIER:
        found.warn(
            f"{operand.column} looks like a code or a number of something: its {item.agg} means nothing."
        )
    elif kind is MeasureKind.AVERAGED and item.agg == "sum":
        found.warn(
            f"{operand.column} looks like a rate, price, duration or score: use its average, not its sum."
        )
