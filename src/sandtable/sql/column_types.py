"""DuckDB's type of each column of a plan: what a query of another engine must return to give the same rows.

Invariant: pure. The name is the one that DuckDB gives a column of the same plan over the same tables.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandtable.engines.duckdb import arithmetic
from sandtable.plan.resolved import (
    Aggregate,
    Arithmetic,
    Bucket,
    ColumnRef,
    Converted,
    DayOf,
    Decomposition,
    Defined,
    Derived,
    Elapsed,
    Elements,
    Expr,
    LiteralValue,
    Matched,
    OutputRef,
    ResolvedPlan,
    Test,
    Value,
    Whole,
)

_OF_BUCKETS = {
    "hour": "TIMESTAMP", "day_of_week": "BIGINT", "month_of_year": "BIGINT", "hour_of_day": "BIGINT",
    "day_name": "VARCHAR", "month_name": "VARCHAR", "hour_name": "VARCHAR",
}  # fmt: skip
_OF_DERIVED = {
    "share_of_total": "DOUBLE", "zscore": "DOUBLE", "rank": "BIGINT", "position": "BIGINT", "run": "BIGINT",
    "broken": "INTEGER",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Types:
    plan: ResolvedPlan
    defined: Mapping[str, Defined] = field(default_factory=dict[str, Defined])
    """The tables that plans define, by name."""
    known: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """What was found already, by table and column."""

    @classmethod
    def of_plan(cls, plan: ResolvedPlan) -> Types:
        return cls(plan, {item.table.name: item for item in plan.defined})

    def inside(self, plan: ResolvedPlan) -> Types:
        """Of a plan that reads the same tables."""
        return Types(plan, self.defined, self.known)

    def columns(self) -> tuple[tuple[str, str], ...]:
        """The columns of the result."""
        outputs = ((output.name, self.of(output.expr)) for output in self.plan.outputs)
        return (*outputs, *((item.name, self._derived(item)) for item in self.plan.shown))

    def of(self, expr: Expr) -> str:
        match expr:
            case ColumnRef():
                return self._column(expr)
            case OutputRef(name=name):
                return self.named(name)
            case Value(value=value):
                return _of_constant(value)
            case Bucket(unit=unit):
                return _OF_BUCKETS.get(unit, "DATE")
            case Test():
                return "BOOLEAN"
            case DayOf():
                return "DATE"
            case _:
                return self._computed(expr)

    def _computed(
        self, expr: Aggregate | Whole | Converted | Arithmetic | Elapsed | Elements | Matched
    ) -> str:
        match expr:
            case Aggregate():
                return self._aggregate(expr)
            case Whole(aggregate=inner) | Converted(computed=inner):
                return self.of(inner)
            case Arithmetic():
                return self._arithmetic(expr)
            case Elapsed(type=type_):
                return arithmetic.OF_LOGICAL[type_]
            case Elements(source=source, each=each):
                return "BIGINT" if not each else self.of(source).removesuffix("[]")
            case Matched(rows=rows):
                return self.inside(rows).columns()[0][1]

    def named(self, name: str) -> str:
        """Of an output or derived column."""
        for output in self.plan.outputs:
            if output.name == name:
                return self.of(output.expr)
        return self._derived(next(item for item in self.plan.derived if item.name == name))

    def _column(self, ref: ColumnRef) -> str:
        key = ref.table, ref.column
        if key in self.known:
            return self.known[key]
        made = self.plan.decomposition
        if made is not None and made.table == ref.table:
            found = self._change(made, ref.column)
        elif ref.table in self.defined:
            found = self.inside(self.defined[ref.table].plan).named(ref.column)
        else:
            found = ref.sql_type
        self.known[key] = found
        return found

    def _change(self, made: Decomposition, column: str) -> str:
        if column in ("dimension", "member"):
            return "VARCHAR"
        if made.base is not None or column == "share_of_change":
            return "DOUBLE"
        measured = self.of(made.number)
        return measured if column != "contribution" else arithmetic.result("-", measured, measured)

    def _aggregate(self, agg: Aggregate) -> str:
        if agg.operand is None:
            return "BIGINT"
        of_boolean = agg.function in ("sum", "avg") and self.of(agg.operand) == "BOOLEAN"
        return arithmetic.aggregate(agg.function, "INTEGER" if of_boolean else self.of(agg.operand))

    def _arithmetic(self, expr: Arithmetic) -> str:
        if expr.op == "/":
            return "DOUBLE"
        left, right = self.of(expr.left), self.of(expr.right)
        if isinstance(expr.left, Value):
            left = _beside(expr.left.value, left, right)
        if isinstance(expr.right, Value):
            right = _beside(expr.right.value, right, left)
        return arithmetic.result(expr.op, left, right)

    def _derived(self, item: Derived) -> str:
        if item.expr is not None:
            return self.of(item.expr)
        if item.kind in _OF_DERIVED:
            return _OF_DERIVED[item.kind]
        source = self.named(item.source)
        match item.kind:
            case "running_total" | "block":
                return arithmetic.aggregate("sum", source)
            case "change":
                earlier = self.named(item.earlier) if item.earlier is not None else source
                return "DOUBLE" if item.percent else arithmetic.result("-", source, earlier)
            case _:
                return source


def _of_constant(value: LiteralValue) -> str:
    match value:
        case bool():
            return "BOOLEAN"
        case int():
            return arithmetic.integer(value)
        case float():
            return arithmetic.fraction(repr(value))
        case str():
            return "VARCHAR"
        case dt.datetime():
            return "TIMESTAMP"
        case dt.date():
            return "DATE"
        case dt.time():
            return "TIME"


def _beside(value: LiteralValue, own: str, other: str) -> str:
    """A whole number takes the type of what it stands beside, where it fits there."""
    if isinstance(value, bool) or not isinstance(value, int) or not arithmetic.holds(other, value):
        return own
    return other
