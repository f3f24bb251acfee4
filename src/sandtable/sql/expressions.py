"""Resolved expressions → SQL nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sandtable.catalog.model import ColumnType
from sandtable.plan.resolved import (
    Aggregate,
    Arithmetic,
    Bucket,
    ColumnRef,
    Condition,
    DayOf,
    Expr,
    OutputRef,
    Value,
)
from sandtable.sql import writing as w

_OPERATORS: Mapping[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}
_PARTS = {"day_of_week": "isodow", "month_of_year": "month", "hour_of_day": "hour"}


@dataclass(frozen=True, slots=True)
class ExpressionWriter:
    """How names are written depends on the query they stand in, nothing else does."""

    qualified: bool
    """Columns carry their table's name."""
    output: Callable[[OutputRef], exp.Expr]
    condition: Callable[[ExpressionWriter, Condition], exp.Expr]
    """How a filter is written: see `sql.conditions`, which is built on this."""
    zoned: Callable[[Expr], bool]
    """Whether this is a moment with a time zone."""

    def write(self, expr: Expr) -> exp.Expr:
        match expr:
            case ColumnRef():
                return self._column(expr)
            case OutputRef():
                return self.output(expr)
            case Value(value=value):
                return w.value(value)
            case Bucket():
                return self._bucket(expr)
            case Aggregate():
                return self._aggregate(expr)
            case Arithmetic(op="/", left=left, right=right):
                return w.divided(self.write(left), self.write(right))
            case Arithmetic(op=op, left=left, right=right):
                sides = w.grouped(self.write(left)), w.grouped(self.write(right))
                return _OPERATORS[op](this=sides[0], expression=sides[1])
            case DayOf(source=source):
                return exp.cast(self.by_the_clock(source), exp.DType.DATE)

    def by_the_clock(self, expr: Expr) -> exp.Expr:
        """What days, hours and comparisons are about. A moment with a time zone is shown as it is; here, the
        session's time zone would decide which day it falls on, so it is read in UTC."""
        node = self.write(expr)
        return exp.AtTimeZone(this=node, zone=exp.Literal.string("UTC")) if self.zoned(expr) else node

    def _column(self, ref: ColumnRef) -> exp.Expr:
        return w.column(ref.column, ref.table if self.qualified else None)

    def _bucket(self, bucket: Bucket) -> exp.Expr:
        source = self.by_the_clock(bucket.source)
        if bucket.unit in _PARTS:
            return exp.Extract(this=exp.var(_PARTS[bucket.unit].upper()), expression=source)
        if bucket.unit == "day":
            return source if bucket.source.type is ColumnType.DATE else exp.cast(source, exp.DType.DATE)
        start = w.function("DATE_TRUNC", exp.Literal.string(bucket.unit), source)
        return start if bucket.unit == "hour" else exp.cast(start, exp.DType.DATE)

    def _aggregate(self, agg: Aggregate) -> exp.Expr:
        call = self._call(agg)
        if agg.where is None:
            return call
        return exp.Filter(this=call, expression=exp.Where(this=self.condition(self, agg.where)))

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
            case name:
                return w.function(name.upper(), once)
