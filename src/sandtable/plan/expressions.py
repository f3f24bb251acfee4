"""Items of a plan → typed expressions: names looked up, aggregates checked, metrics unfolded.

Names are columns of the plan's table and its related ones, or, with `outputs`, the plan's output columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sandtable.catalog.calendar import Calendar
from sandtable.catalog.model import ColumnType, Metric, Table
from sandtable.plan import items as i
from sandtable.plan.aggregating import restricted, result_type, warn_of_kind, warn_of_repeats
from sandtable.plan.conditions import NUMBERS, Conditions, called, describe, element_type
from sandtable.plan.existing import resolve_exists
from sandtable.plan.filters import RelatedRows
from sandtable.plan.findings import Findings
from sandtable.plan.moments import is_fiscal
from sandtable.plan.problems import did_you_mean, listed
from sandtable.plan.reading import read_metric_part
from sandtable.plan.resolved import (
    Aggregate,
    Arithmetic,
    Bucket,
    Condition,
    Converted,
    DayOf,
    Elapsed,
    Elements,
    Expr,
    Test,
    Value,
    Whole,
)
from sandtable.plan.scope import TIME_TYPES, Scope, Unresolved
from sandtable.plan.timing import anchor, declares_fiscal, resolve_window
from sandtable.plan.units import converted
from sandtable.plan.walking import is_aggregate, row_parts, wholes
from sandtable.plan.windows import TimeWindow
from sandtable.quoting import quote

_CLOCK = frozenset({"hour_of_day", "hour_name"})
_NAMES = frozenset({"day_name", "month_name", "hour_name"})
_NUMBERED = frozenset({"day_of_week", "month_of_year", "hour_of_day"})
_COMPLETE = frozenset({"month", "quarter", "year"})
_OF_THE_CLOCK = frozenset({"second", "minute", "hour"})


@dataclass(frozen=True, slots=True)
class Expressions:
    scope: Scope
    found: Findings
    outputs: Callable[[str, str], Expr | None] | None = None
    """Name and place → an output column; None after reporting why not."""

    def item(
        self, item: i.AnyItem, place: str, home: Table | None = None, *, rowwise: bool = False
    ) -> Expr | None:
        """`rowwise`: an aggregate is a value of each row, over the whole table unless it says `within`."""
        match item:
            case i.ColumnItem(column=name, unit=unit):
                return self._in_unit(self.column(name, f"{place}.column", home), unit, place)
            case i.AggItem(within=within, unit=unit):
                agg = self._aggregate(item, place, home)
                return self._in_unit(self._spread(agg, within, place, home, rowwise), unit, place)
            case i.MetricItem(within=within, unit=unit):
                metric = self._metric(item, place, home)
                return self._in_unit(self._spread(metric, within, place, home, rowwise), unit, place)
            case i.BucketItem():
                return self.bucket(item, place, home, rowwise=rowwise)
            case i.ElapsedItem():
                return self._elapsed(item, place, home, rowwise)
            case i.ElementsItem(elements=name, take=take):
                return self._elements(self.column(name, f"{place}.elements", home), take == "each", place)
            case i.HoldsItem(holds=filters):
                condition = self.conditions(home).all_of(filters, f"{place}.holds")
                return Test(condition) if condition is not None else None
            case i.ArithmeticItem(unit=unit):
                return self._in_unit(self._arithmetic(item, place, home, rowwise), unit, place)
            case i.ValueOperand(value=number):
                return Value(number, ColumnType.INTEGER if isinstance(number, int) else ColumnType.FLOAT)

    def column(self, name: str, place: str, home: Table | None = None) -> Expr | None:
        if self.outputs is not None:
            return self.outputs(name, place)
        found = self.scope.column(name, home)
        if isinstance(found, Unresolved):
            self.found.unresolved(place, found)
            return None
        return found

    def conditions(self, home: Table | None = None) -> Conditions:
        """How filters over these names are resolved."""

        def window(time: TimeWindow, place: str) -> Condition | None:
            return resolve_window(
                time, self.time_column(time.column, place, home), self.scope.dataset, self.found, place
            )

        def exists(rows: RelatedRows, place: str) -> Condition | None:
            if self.outputs is not None:
                message = "exists is about rows that are read, not about output rows"
                self.found.add(place, message, "Put it into `filters` or into the `where` of an aggregate.")
                return None
            row = (self.scope, home or self.scope.table)
            return resolve_exists(
                rows, place, row, self.found, lambda s: Expressions(s, self.found).conditions()
            )

        return Conditions(
            lambda name, at: self.column(name, at, home),
            self.found,
            lambda item, at: self.item(item, at, home, rowwise=True),
            window,
            exists,
        )

    def time_column(
        self, name: str | None, place: str, home: Table | None = None, *, clock: bool = False
    ) -> Expr | None:
        """A date or timestamp; with `clock` a time of day will do."""
        if name is None and self.outputs is not None:
            self.found.add(f"{place}.column", "name the output column that time means here")
            return None
        found = self.scope.time_column(home) if name is None else self.column(name, f"{place}.column", home)
        if isinstance(found, Unresolved):
            self.found.unresolved(f"{place}.column", found)
            return None
        return self._moment(found, f"{place}.column", clock)

    def _moment(self, found: Expr | None, place: str, clock: bool) -> Expr | None:
        if found is None or found.type in TIME_TYPES or (clock and found.type is ColumnType.TIME):
            return found
        table = self.scope.table
        choices = [c.name for c in table.columns if c.type in TIME_TYPES]
        hint = f"Dates and timestamps in {table.name}: {listed(choices)}." if choices else ""
        self.found.add(place, f"{called(found)} is {describe(found.type)}, not a date or timestamp", hint)
        return None

    def bucket(
        self, item: i.BucketItem, place: str, home: Table | None = None, *, rowwise: bool = False
    ) -> Bucket | None:
        clock = item.bucket in _CLOCK
        if item.of is not None:
            inner = self.item(item.of, f"{place}.of", home, rowwise=rowwise)
            source = self._moment(inner, f"{place}.of", clock)
        else:
            source = self.time_column(item.column, place, home, clock=clock)
        if not declares_fiscal(item.bucket, self.scope.dataset, self.found, f"{place}.bucket"):
            return None
        if source is None:
            return None
        if source.type is ColumnType.DATE and (clock or item.bucket == "hour"):
            self.found.add(
                f"{place}.bucket", f"{called(source)} is a date and has no hours", "Use day or longer."
            )
            return None
        if item.bucket in _NAMES:
            return Bucket(item.bucket, source, ColumnType.TEXT)
        if item.bucket in _NUMBERED:
            return Bucket(item.bucket, source, ColumnType.INTEGER)
        if item.bucket == "week" or is_fiscal(item.bucket):
            calendar = Calendar.of(self.scope.dataset)
            shift = calendar.week_shift if item.bucket == "week" else calendar.fiscal_shift
            return Bucket(item.bucket, source, ColumnType.DATE, shift)
        return Bucket(item.bucket, source, ColumnType.TIMESTAMP if item.bucket == "hour" else ColumnType.DATE)

    def _elapsed(self, item: i.ElapsedItem, place: str, home: Table | None, rowwise: bool) -> Elapsed | None:
        start = self._end(item.from_, f"{place}.from", home, rowwise)
        end = self._end(item.to, f"{place}.to", home, rowwise)
        if (item.from_ is not None and start is None) or (item.to is not None and end is None):
            return None
        known = start or end
        if known is not None and (start is None or end is None):
            by_day = known.type is ColumnType.DATE or item.elapsed not in _OF_THE_CLOCK
            now = anchor(
                item.as_of,
                self.scope.dataset,
                self.found,
                place,
                by_day=by_day,
                date=known.type is ColumnType.DATE,
            )
            if now is None:
                return None
            if now.type is ColumnType.DATE and known.type is ColumnType.TIMESTAMP:
                known = DayOf(known)
            start, end = (known, now) if start is not None else (now, known)
        if start is None or end is None:
            return None
        types = {start.type, end.type}
        if ColumnType.TIME in types and (len(types) > 1 or item.elapsed not in _OF_THE_CLOCK):
            message = "between times of day there are only seconds, minutes and hours"
            self.found.add(
                place, message, "Use two dates or timestamps, or two times of day with a short unit."
            )
            return None
        whole = item.elapsed in _COMPLETE or (types == {ColumnType.DATE} and item.elapsed != "week")
        return Elapsed(item.elapsed, start, end, ColumnType.INTEGER if whole else ColumnType.FLOAT)

    def _end(
        self, end: str | i.AggItem | i.BucketItem | None, place: str, home: Table | None, rowwise: bool
    ) -> Expr | None:
        if end is None:
            return None
        if isinstance(end, str):
            return self._moment(self.column(end, place, home), place, clock=True)
        return self._moment(self.item(end, place, home, rowwise=rowwise), place, clock=True)

    def _elements(self, source: Expr | None, each: bool, place: str) -> Elements | None:
        if source is None:
            return None
        inner = element_type(source) or (ColumnType.TEXT if source.type is ColumnType.TEXT else None)
        if inner is None or (each and self.outputs is not None):
            wrong = f"{called(source)} is {describe(source.type)}, not a list or text"
            again = "elements make rows of their own, which a derived column cannot"
            self.found.add(f"{place}.elements", wrong if inner is None else again)
            return None
        if each:
            self.found.warn(f"rows repeat, once for each element of {called(source)}.")
        return Elements(source, each, inner if each else ColumnType.INTEGER)

    def _in_unit(self, expr: Expr | None, unit: str | None, place: str) -> Expr | None:
        if expr is None or unit is None:
            return expr
        made = converted(expr, unit, self.scope.dataset)
        if isinstance(made, Converted):
            return made
        self.found.add(f"{place}.unit", made[0], made[1])
        return None

    def _spread(
        self, expr: Expr | None, within: tuple[str, ...] | None, place: str, home: Table | None, rowwise: bool
    ) -> Expr | None:
        """The aggregate itself, or its value for each row."""
        if expr is None or (within is None and not rowwise and self.outputs is None):
            return expr
        groups = [self.column(name, f"{place}.within[{n}]", home) for n, name in enumerate(within or ())]
        if any(group is None for group in groups):
            return None
        if wholes(expr):
            self.found.add(
                place,
                "an aggregate over the whole table cannot be inside another one",
                "Compute the inner one in a table of `define`.",
            )
            return None
        return Whole(expr, tuple(dict.fromkeys(g for g in groups if g is not None)), expr.type)

    def _aggregate(self, item: i.AggItem, place: str, home: Table | None) -> Aggregate | None:
        where = self.conditions(home).all_of(item.where, f"{place}.where")
        if item.counts_rows:
            return Aggregate("count", None, ColumnType.INTEGER, where)
        operand = (
            self.item(item.of, f"{place}.of", home)
            if item.of is not None
            else self.column(item.column or "", f"{place}.column", home)
        )
        other = self.column(item.with_, f"{place}.with", home) if item.with_ is not None else None
        if operand is None or (item.with_ is not None and other is None):
            return None
        if is_aggregate(operand) or not (self.outputs or any(row_parts(operand))):
            self.found.add(f"{place}.of", "an aggregate takes columns and numbers, with at least one column")
            return None
        if other is not None and other.type not in NUMBERS:
            self.found.add(
                f"{place}.with", f"correlation needs a number, but {called(other)} is {describe(other.type)}"
            )
            return None
        made = self._typed(item, operand, where, place)
        return replace(made, other=other) if made is not None and other is not None else made

    def _typed(self, item: i.AggItem, operand: Expr, where: Condition | None, place: str) -> Aggregate | None:
        type_ = result_type(item.agg, operand.type)
        if type_ is None:
            field = f"{place}.of" if item.of is not None else f"{place}.column"
            numbers = [c.name for c in self.scope.table.columns if c.type in NUMBERS]
            hint = (
                f"Numbers in {self.scope.table.name}: {listed(numbers)}." if numbers else "Use count instead."
            )
            what = quote(item.column) if item.column else "this expression"
            self.found.add(field, f"{item.agg} needs a number, but {what} is {describe(operand.type)}", hint)
            return None
        warn_of_repeats(item, operand, self.scope.table.name, self.found)
        warn_of_kind(item, operand, self.scope, self.found)
        distinct = item.distinct and item.agg != "count_distinct"
        return Aggregate(item.agg, operand, type_, where, item.q, distinct)

    def _arithmetic(
        self, item: i.ArithmeticItem, place: str, home: Table | None, rowwise: bool
    ) -> Arithmetic | None:
        sides: list[Expr] = []
        for side, operand in (("left", item.left), ("right", item.right)):
            expr = self.item(operand, f"{place}.{side}", home, rowwise=rowwise)
            if expr is None:
                continue
            if expr.type not in NUMBERS:
                message = f"arithmetic needs numbers, but this is {describe(expr.type)}"
                hint = "Use a number column, an aggregate or a metric."
                if expr.type in TIME_TYPES:
                    hint = 'For the time between two moments write {"elapsed": "day", "from": …, "to": …}.'
                self.found.add(f"{place}.{side}", message, hint)
                continue
            sides.append(expr)
        if len(sides) < 2:
            return None
        return Arithmetic(
            item.op, sides[0], sides[1], _arithmetic_type(item.op, sides[0].type, sides[1].type)
        )

    def _metric(self, item: i.MetricItem, place: str, home: Table | None) -> Expr | None:
        name, field = item.metric, f"{place}.metric"
        if self.outputs is not None:
            self.found.add(field, "a metric cannot be computed from output columns", "Put it into `select`.")
            return None
        if home is not None:
            self.found.add(
                field, f"the catalog's metric refers to another metric, {quote(name)}, which is not possible"
            )
            return None
        metric = self.scope.dataset.metric(name)
        if metric is None:
            names = [m.name for m in self.scope.dataset.metrics]
            hint = f"Metrics: {listed(names)}." if names else "This dataset declares no metrics; use `agg`."
            self.found.add(field, f"no metric {quote(name)}{did_you_mean(name, names)}", hint)
            return None
        expr = self._unfolded(metric, field)
        where = self.conditions().all_of(item.where, f"{place}.where")
        return restricted(expr, where) if expr is not None and where is not None else expr

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


def _arithmetic_type(op: i.ArithmeticOp, left: ColumnType, right: ColumnType) -> ColumnType:
    if op == "/" or ColumnType.FLOAT in (left, right):
        return ColumnType.FLOAT
    return ColumnType.DECIMAL if ColumnType.DECIMAL in (left, right) else ColumnType.INTEGER
