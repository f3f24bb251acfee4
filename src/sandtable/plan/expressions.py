"""Select items → typed expressions: columns looked up, aggregates checked, metrics unfolded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandtable.catalog.model import ColumnType, Metric, Table
from sandtable.plan import items as i
from sandtable.plan.conditions import NUMBERS, Conditions, describe
from sandtable.plan.findings import Findings
from sandtable.plan.problems import did_you_mean, listed
from sandtable.plan.reading import read_metric_part
from sandtable.plan.resolved import (
    Aggregate,
    Arithmetic,
    Bucket,
    ColumnRef,
    Condition,
    Expr,
    Value,
    is_aggregate,
    row_parts,
)
from sandtable.plan.scope import TIME_TYPES, Scope, Unresolved
from sandtable.quoting import quote

_REPEATS_MATTER = frozenset({"sum", "avg", "count", "median", "stddev", "quantile"})


@dataclass(frozen=True, slots=True)
class Expressions:
    scope: Scope
    found: Findings

    def item(self, item: i.AnyItem, place: str, home: Table | None = None) -> Expr | None:
        match item:
            case i.ColumnItem(column=name):
                return self.column(name, f"{place}.column", home)
            case i.AggItem():
                return self._aggregate(item, place, home)
            case i.MetricItem(metric=name):
                return self._metric(name, f"{place}.metric", home)
            case i.BucketItem():
                return self.bucket(item, place, home)
            case i.ArithmeticItem():
                return self._arithmetic(item, place, home)
            case i.ValueOperand(value=number):
                return Value(number, ColumnType.INTEGER if isinstance(number, int) else ColumnType.FLOAT)

    def column(self, name: str, place: str, home: Table | None = None) -> ColumnRef | None:
        found = self.scope.column(name, home)
        if isinstance(found, Unresolved):
            self.found.unresolved(place, found)
            return None
        return found

    def time_column(self, name: str | None, place: str, home: Table | None = None) -> ColumnRef | None:
        found = self.scope.time_column(home) if name is None else self.scope.column(name, home)
        if isinstance(found, Unresolved):
            self.found.unresolved(f"{place}.column", found)
            return None
        if found.type not in TIME_TYPES:
            table = self.scope.dataset.table(found.table)
            choices = [c.name for c in table.columns if c.type in TIME_TYPES] if table else []
            hint = f"Dates and timestamps in {found.table}: {listed(choices)}." if choices else ""
            message = f"{quote(found.column)} is {describe(found.type)}, not a date or timestamp"
            self.found.add(f"{place}.column", message, hint)
            return None
        return found

    def bucket(self, item: i.BucketItem, place: str, home: Table | None = None) -> Bucket | None:
        source = self.time_column(item.column, place, home)
        if source is None:
            return None
        if source.type is ColumnType.DATE and item.bucket in ("hour", "hour_of_day"):
            self.found.add(
                f"{place}.bucket", f"{quote(source.column)} is a date and has no hours", "Use day or longer."
            )
            return None
        if item.bucket.endswith(("_week", "_year", "_day")):
            return Bucket(item.bucket, source, ColumnType.INTEGER)
        return Bucket(item.bucket, source, ColumnType.TIMESTAMP if item.bucket == "hour" else ColumnType.DATE)

    def _aggregate(self, item: i.AggItem, place: str, home: Table | None) -> Aggregate | None:
        conditions = Conditions(lambda name, at: self.column(name, at, home), self.found)
        where = conditions.all_of(item.where, f"{place}.where")
        if item.counts_rows:
            return Aggregate("count", None, ColumnType.INTEGER, where)
        operand = (
            self.item(item.of, f"{place}.of", home)
            if item.of is not None
            else self.column(item.column or "", f"{place}.column", home)
        )
        if operand is None:
            return None
        if is_aggregate(operand) or not any(row_parts(operand)):
            self.found.add(f"{place}.of", "an aggregate takes columns and numbers, with at least one column")
            return None
        return self._typed(item, operand, where, place)

    def _typed(self, item: i.AggItem, operand: Expr, where: Condition | None, place: str) -> Aggregate | None:
        type_ = _result_type(item.agg, operand.type)
        if type_ is None:
            field = f"{place}.of" if item.of is not None else f"{place}.column"
            numbers = [c.name for c in self.scope.table.columns if c.type in NUMBERS]
            hint = (
                f"Numbers in {self.scope.table.name}: {listed(numbers)}." if numbers else "Use count instead."
            )
            what = quote(item.column) if item.column else "this expression"
            self.found.add(field, f"{item.agg} needs a number, but {what} is {describe(operand.type)}", hint)
            return None
        self._warn_of_repeats(item, operand)
        distinct = item.distinct and item.agg != "count_distinct"
        return Aggregate(item.agg, operand, type_, where, item.q, distinct)

    def _warn_of_repeats(self, item: i.AggItem, operand: Expr) -> None:
        tables = {
            part.table if isinstance(part, ColumnRef) else part.source.table for part in row_parts(operand)
        }
        base = self.scope.table.name
        if base in tables or item.distinct or item.agg not in _REPEATS_MATTER:
            return
        for table in sorted(tables):
            self.found.warn(
                f"{item.agg} over {table} counts each of its rows once per row of {base}; "
                f"base the plan on {table} to count it once."
            )

    def _arithmetic(self, item: i.ArithmeticItem, place: str, home: Table | None) -> Arithmetic | None:
        sides: list[Expr] = []
        for side, operand in (("left", item.left), ("right", item.right)):
            expr = self.item(operand, f"{place}.{side}", home)
            if expr is None:
                continue
            if expr.type not in NUMBERS:
                message = f"arithmetic needs numbers, but this is {describe(expr.type)}"
                self.found.add(f"{place}.{side}", message, "Use a number column, an aggregate or a metric.")
                continue
            sides.append(expr)
        if len(sides) < 2:
            return None
        return Arithmetic(
            item.op, sides[0], sides[1], _arithmetic_type(item.op, sides[0].type, sides[1].type)
        )

    def _metric(self, name: str, place: str, home: Table | None) -> Expr | None:
        if home is not None:
            self.found.add(
                place, f"the catalog's metric refers to another metric, {quote(name)}, which is not possible"
            )
            return None
        metric = self.scope.dataset.metric(name)
        if metric is None:
            names = [m.name for m in self.scope.dataset.metrics]
            hint = f"Metrics: {listed(names)}." if names else "This dataset declares no metrics; use `agg`."
            self.found.add(place, f"no metric {quote(name)}{did_you_mean(name, names)}", hint)
            return None
        return self._unfolded(metric, place)

    def _unfolded(self, metric: Metric, place: str) -> Expr | None:
        home = self.scope.dataset.table(metric.table)
        inner = Expressions(self.scope, Findings())
        sides = [
            inner.metric_part(part, home)
            for part in (metric.numerator, metric.denominator)
            if part is not None
        ]
        if home is not None and home.name != self.scope.table.name:
            base = self.scope.table.name
            self.found.warn(f"metric {metric.name} is over {home.name}, but this plan counts rows of {base}.")
        problem = next(iter(inner.found.problems), None)
        if problem or any(side is None for side in sides):
            reason = problem.message if problem else "it is not an aggregate"
            self.found.add(
                place,
                f"metric {quote(metric.name)} cannot be used here: {reason}",
                problem.suggestion if problem else "",
            )
            return None
        whole = [side for side in sides if side is not None]
        return whole[0] if len(whole) == 1 else Arithmetic("/", whole[0], whole[1], ColumnType.FLOAT)

    def metric_part(self, part: object, home: Table | None) -> Expr | None:
        item = read_metric_part(part)
        if isinstance(item, list):
            self.found.problems.extend(item)
            return None
        expr = self.item(item, "metric", home)
        return expr if expr is not None and is_aggregate(expr) and not any(row_parts(expr)) else None


def has_aggregate(item: i.AnyItem) -> bool:
    return any(isinstance(part, i.AggItem | i.MetricItem) for part in _parts(item))


def _parts(item: i.AnyItem) -> Iterator[i.AnyItem]:
    yield item
    if isinstance(item, i.ArithmeticItem):
        yield from _parts(item.left)
        yield from _parts(item.right)


def _result_type(agg: i.AggName, operand: ColumnType) -> ColumnType | None:
    """What the aggregate of such values is; None when it makes no sense."""
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
        case "avg" | "stddev" if operand in NUMBERS:
            return ColumnType.FLOAT
        case _:
            return None


def _arithmetic_type(op: i.ArithmeticOp, left: ColumnType, right: ColumnType) -> ColumnType:
    if op == "/" or ColumnType.FLOAT in (left, right):
        return ColumnType.FLOAT
    return ColumnType.DECIMAL if ColumnType.DECIMAL in (left, right) else ColumnType.INTEGER
