"""Resolved expressions → SQL nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sandtable.catalog.model import ColumnType
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
from sandtable.sql import writing as w

_OPERATORS: Mapping[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}
_PARTS = {"day_of_week": "isodow", "month_of_year": "month", "hour_of_day": "hour"}
_NAMES = {"day_name": "DAYNAME", "month_name": "MONTHNAME"}
_CALENDAR = {
    "day_name": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "month_name": (
        "January February March April May June July August September October November December".split()
    ),
}
_SEPARATORS = r"\s*[,;|]\s*"
_MICROSECONDS = {
    "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000, "week": 604_800_000_000,
}  # fmt: skip


def calendar_order(bucket: str, node: exp.Expr) -> exp.Expr:
    """The sort key of day and month names: their place in the calendar. Other values sort by themselves."""
    names = _CALENDAR.get(bucket)
    if names is None:
        return node
    listed = exp.Array(expressions=[exp.Literal.string(name) for name in names])
    return w.function("LIST_POSITION", listed, node)


@dataclass(frozen=True, slots=True)
class ExpressionWriter:
    """Writes expressions as SQL. Only the spelling of names depends on the query around them."""

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
                return w.value(value)
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
            return w.divided(left, right)
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
        if bucket.unit in _PARTS:
            return exp.Extract(this=exp.var(_PARTS[bucket.unit].upper()), expression=source)
        if bucket.unit in _NAMES:
            return w.function(_NAMES[bucket.unit], source)
        if bucket.unit == "hour_name":
            hour = exp.cast(exp.Extract(this=exp.var("HOUR"), expression=source), exp.DType.VARCHAR)
            padded = w.function("LPAD", hour, w.number(2), exp.Literal.string("0"))
            return w.function("CONCAT", padded, exp.Literal.string(":00"))
        if bucket.unit == "day":
            return source if bucket.source.type is ColumnType.DATE else exp.cast(source, exp.DType.DATE)
        start = self._start(bucket, source)
        return start if bucket.unit == "hour" else exp.cast(start, exp.DType.DATE)

    @staticmethod
    def _start(bucket: Bucket, source: exp.Expr) -> exp.Expr:
        """The first moment of a period. The engine's weeks begin on Monday and its years in January: others are cut in
        time that is moved there, and moved back."""
        count, unit = (bucket.shift, "DAY") if bucket.unit == "week" else (-bucket.shift, "MONTH")
        whole = exp.Literal.string(bucket.unit.removeprefix("fiscal_"))
        cut = w.function("DATE_TRUNC", whole, w.later(source, count, unit))
        return w.later(cut, -count, unit)

    def _elements(self, elements: Elements) -> exp.Expr:
        source = self.write(elements.source)
        made = source if elements.source.type is ColumnType.OTHER else self.listed(source)
        return w.function("UNNEST" if elements.each else "LEN", made)

    def listed(self, text: exp.Expr) -> exp.Expr:
        """The elements of a text; an empty one has none."""
        trimmed = w.function("TRIM", text)
        parts = w.function("STRING_SPLIT_REGEX", trimmed, exp.Literal.string(_SEPARATORS))
        empty = exp.EQ(this=trimmed.copy(), expression=exp.Literal.string(""))
        return exp.Case(ifs=[exp.If(this=empty, true=exp.Array(expressions=[]))], default=parts)

    def _elapsed(self, elapsed: Elapsed) -> exp.Expr:
        start, end = self.by_the_clock(elapsed.start), self.by_the_clock(elapsed.end)
        if elapsed.unit not in _MICROSECONDS:
            return w.function("DATE_SUB", exp.Literal.string(elapsed.unit), start, end)
        if elapsed.type is ColumnType.INTEGER:
            return w.function("DATE_DIFF", exp.Literal.string(elapsed.unit), start, end)
        exact = w.function("DATE_DIFF", exp.Literal.string("microsecond"), start, end)
        return exp.Div(this=exact, expression=w.number(_MICROSECONDS[elapsed.unit]))

    def _aggregate(self, agg: Aggregate) -> exp.Expr:
        inner = replace(self, within=None)
        call = inner._call(agg)
        if agg.where is not None:
            call = exp.Filter(this=call, expression=exp.Where(this=self.condition(inner, agg.where)))
        if self.within is not None:
            call = exp.Window(
                this=call, partition_by=[inner.write(e) for e in self.within] or None, over="OVER"
            )
        if agg.function == "correlation":
            # Without variance the engine returns NaN: there is no correlation.
            return exp.Nullif(this=call, expression=exp.cast(exp.Literal.string("NaN"), exp.DType.DOUBLE))
        return call

    def _call(self, agg: Aggregate) -> exp.Expr:
        if agg.operand is None:
            return exp.Count(this=exp.Star())
        operand = self.write(agg.operand)
        if agg.operand.type is ColumnType.BOOLEAN and agg.function in ("sum", "avg"):
            operand = exp.cast(operand, exp.DType.INT)
        once = exp.Distinct(expressions=[operand]) if agg.distinct else operand
        match agg.function:
            case "count_distinct":
                return exp.Count(this=exp.Distinct(expressions=[operand]))
            case "count":
                return exp.Count(this=once)
            case "stddev":
                return exp.StddevSamp(this=operand)
            case "quantile":
                return w.function("QUANTILE_CONT", operand, w.number(agg.q or 0))
            case "correlation" if agg.other is not None:
                return w.function("CORR", operand, self.write(agg.other))
            case name:
                return w.function(name.upper(), once)
