"""Resolved expressions → SQL nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sandtable.catalog.model import ColumnType
from sandtable.engines import nodes as w
from sandtable.engines.spelling import Operand, Spelling
from sandtable.plan.resolved import (
    Aggregate,
    Arithmetic,
    Bucket,
    ColumnRef,
    Condition,
    Converted,
    DayOf,
    Elapsed,
    Elements,
    Expr,
    Matched,
    OutputRef,
    Test,
    Value,
    Whole,
)

_OPERATORS: Mapping[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}
_COMPLETE = frozenset({"month", "quarter", "year"})
_PERIODS = frozenset({"hour", "week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year"})
_CALENDAR = {
    "day_name": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "month_name": (
        "January February March April May June July August September October November December".split()
    ),
}


def calendar_order(spelling: Spelling, bucket: str, node: exp.Expr) -> exp.Expr:
    """The sort key of day and month names: their place in the calendar. Other values sort by themselves."""
    names = _CALENDAR.get(bucket)
    return spelling.place(names, node) if names is not None else node


@dataclass(frozen=True, slots=True)
class ExpressionWriter:
    """Writes expressions as SQL. Only the spelling of names depends on the query around them."""

    spelling: Spelling
    types: Callable[[Expr], str]
    """DuckDB's type of an expression."""
    qualified: bool
    """Columns carry their table's name."""
    output: Callable[[OutputRef], exp.Expr]
    condition: Callable[[ExpressionWriter, Condition], exp.Expr]
    """How a filter is written: see `sql.conditions`, which is built on this."""
    zoned: Callable[[Expr], bool]
    """Whether this is a moment with a time zone."""
    names: Mapping[Expr, str] = field(default_factory=dict[Expr, str])
    """Expressions that an earlier step of the query has computed, by the name of their column there."""
    joined: Mapping[Matched, str] = field(default_factory=dict[Matched, str])
    """Rows of other tables, by the name under which they are joined."""
    within: tuple[Expr, ...] | None = None
    """Aggregates are values of each row, over the rows that are equal in these."""

    def write(self, expr: Expr) -> exp.Expr:
        known = self.names.get(expr)
        return w.column(known) if known is not None else self._written(expr)

    def _written(self, expr: Expr) -> exp.Expr:
        match expr:
            case Whole(aggregate=aggregate, within=within):
                return replace(self, within=within).write(aggregate)
            case Elapsed() | Elements():
                return self._elapsed(expr) if isinstance(expr, Elapsed) else self._elements(expr)
            case Converted(computed=computed):
                return self.write(computed)
            case Test(condition=condition):
                return exp.Paren(this=self.condition(self, condition))
            case ColumnRef() | Matched():
                return self._column(expr)
            case OutputRef():
                return self.output(expr)
            case Value(value=value):
                return self.spelling.value(value)
            case Bucket():
                return self._bucket(expr)
            case Aggregate():
                return self._aggregate(expr)
            case Arithmetic():
                return self._arithmetic(expr)
            case DayOf(source=source):
                return exp.cast(self.by_the_clock(source), exp.DType.DATE)

    def _arithmetic(self, expr: Arithmetic) -> exp.Expr:
        left, right = self.write(expr.left), self.write(expr.right)
        if expr.op == "/":
            return self.spelling.quotient(left, right)
        return _OPERATORS[expr.op](this=w.grouped(left), expression=w.grouped(right))

    def by_the_clock(self, expr: Expr) -> exp.Expr:
        """The value for days, hours and comparisons. A moment with a time zone is displayed unchanged, but read in
        UTC here; otherwise the session's time zone would decide which day it falls on."""
        node = self.write(expr)
        return exp.AtTimeZone(this=node, zone=exp.Literal.string("UTC")) if self.zoned(expr) else node

    def _column(self, ref: ColumnRef | Matched) -> exp.Expr:
        if isinstance(ref, Matched):
            return w.column(ref.rows.outputs[0].name, self.joined[ref])
        return w.column(ref.column, ref.table if self.qualified else None)

    def _bucket(self, bucket: Bucket) -> exp.Expr:
        source = self.by_the_clock(bucket.source)
        if bucket.unit == "day":
            return source if bucket.source.type is ColumnType.DATE else exp.cast(source, exp.DType.DATE)
        if bucket.unit not in _PERIODS:
            return self.spelling.part(bucket.unit, source)
        start = self.spelling.period(bucket.unit.removeprefix("fiscal_"), source, bucket.shift)
        return start if bucket.unit == "hour" else exp.cast(start, exp.DType.DATE)

    def _elements(self, elements: Elements) -> exp.Expr:
        source = self.write(elements.source)
        made = source if elements.source.type is ColumnType.OTHER else self.spelling.listed(source)
        return self.spelling.each(made) if elements.each else self.spelling.count(made)

    def _elapsed(self, elapsed: Elapsed) -> exp.Expr:
        start, end = self.by_the_clock(elapsed.start), self.by_the_clock(elapsed.end)
        if elapsed.unit in _COMPLETE:
            return self.spelling.complete(elapsed.unit, start, end)
        if elapsed.type is ColumnType.INTEGER:
            return self.spelling.between_days(elapsed.unit, start, end)
        ends = (
            Operand(start, lambda: self.types(elapsed.start)),
            Operand(end, lambda: self.types(elapsed.end)),
        )
        return self.spelling.exactly(elapsed.unit, *ends)

    def operand(self, expr: Expr) -> Operand:
        return Operand(self.write(expr), lambda: self.types(expr))

    def _aggregate(self, agg: Aggregate) -> exp.Expr:
        inner = replace(self, within=None)

        def over(call: exp.Expr) -> exp.Expr:
            if agg.where is not None:
                call = exp.Filter(this=call, expression=exp.Where(this=self.condition(inner, agg.where)))
            if self.within is not None:
                groups = [inner.write(e) for e in self.within] or None
                call = exp.Window(this=call, partition_by=groups, over="OVER")
            return call

        if agg.operand is None:
            return over(exp.Count(this=exp.Star()))
        operand = inner.operand(agg.operand)
        if agg.function in ("count", "count_distinct"):
            once = agg.distinct or agg.function == "count_distinct"
            return over(exp.Count(this=exp.Distinct(expressions=[operand.node]) if once else operand.node))
        if agg.other is not None:
            return self.spelling.correlation(operand.node, inner.write(agg.other), over)
        if agg.operand.type is ColumnType.BOOLEAN and agg.function in ("sum", "avg"):
            operand = Operand(exp.cast(operand.node, exp.DType.INT), lambda: "INTEGER")
        return self.spelling.aggregate(agg.function, operand, over, distinct=agg.distinct, q=agg.q or 0)
