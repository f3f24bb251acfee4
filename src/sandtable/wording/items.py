"""What a plan selects and derives, in words: "average discount rate", "number of orders", "share of revenue"."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.catalog.model import ColumnType
from sandtable.plan import derivations as d
from sandtable.plan import items as i
from sandtable.plan.units import FRACTION, PERCENT
from sandtable.wording import conditions
from sandtable.wording.figures import number_of, shown
from sandtable.wording.naming import Named, Naming
from sandtable.wording.phrases import joined, ordinal, plural, words

_MOMENTS = (ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME)
_OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_BUCKETS = {
    "day_of_week": "day of the week",
    "month_of_year": "month of the year",
    "hour_of_day": "hour of the day",
}
_SHARES = frozenset("share rate fraction proportion percentage".split())


@dataclass(frozen=True, slots=True)
class Items:
    naming: Naming

    def item(self, item: i.AnyItem) -> Named:
        match item:
            case i.ColumnItem(column="*"):
                return Named("all columns")
            case i.ColumnItem(column=name):
                return self.naming.column(name)
            case i.MetricItem(metric=name):
                return self.naming.metric(name)
            case i.BucketItem():
                return self.bucket(item)
            case i.AggItem():
                return self._aggregate(item)
            case i.ArithmeticItem():
                return self._arithmetic(item)
            case i.ValueOperand(value=value):
                number = number_of(value)
                return Named(shown(number) if number is not None else str(value))

    def bucket(self, item: i.BucketItem) -> Named:
        unit = _BUCKETS.get(item.bucket, item.bucket)
        type_ = ColumnType.INTEGER if item.bucket in _BUCKETS else ColumnType.DATE
        usual = (self.naming.time_column() or "").rpartition(".")[2]
        name = item.column.rpartition(".")[2] if item.column else usual
        if name.lower() == usual.lower():
            return Named(unit, "", type_)
        return Named(f"{unit} of {words(name)}", "", type_)

    def _aggregate(self, item: i.AggItem) -> Named:
        where = conditions.all_of(item.where, self.naming.column)
        named = self._plain_aggregate(item)
        return Named(f"{named.text} where {where}", named.unit, named.type, named.counts) if where else named

    def _plain_aggregate(self, item: i.AggItem) -> Named:
        if item.counts_rows:
            return Named(f"number of {self.naming.rows}", "", ColumnType.INTEGER, counts=True)
        operand = self.item(item.of) if item.of is not None else self.naming.column(item.column or "")
        text, unit, type_ = operand.text, operand.unit, operand.type
        simple = item.of is None
        match item.agg:
            case "count_distinct":
                return Named(f"number of different {plural(text)}", "", ColumnType.INTEGER, counts=True)
            case "count" if item.distinct:
                return Named(f"number of different {plural(text)}", "", ColumnType.INTEGER, counts=True)
            case "count":
                with_one = f"number of {self.naming.rows} with {text}"
                return Named(with_one, "", ColumnType.INTEGER, counts=True)
            case "min" | "max" if type_ in _MOMENTS:
                return Named(f"{'earliest' if item.agg == 'min' else 'latest'} {text}", unit, type_)
            case "min" | "max" if type_ is ColumnType.TEXT:
                return Named(f"{'first' if item.agg == 'min' else 'last'} {text}", unit, type_)
            case "min" | "max":
                return Named(f"{'lowest' if item.agg == 'min' else 'highest'} {text}", unit, type_)
            case "quantile":
                q = number_of(item.q)
                which = ordinal(shown(q.scaleb(2)) if q is not None else "50")
                return Named(f"{which} percentile of {text}", unit, type_)
            case "stddev":
                return Named(f"standard deviation of {text}", unit, ColumnType.FLOAT)
            case "avg" if type_ is ColumnType.BOOLEAN:
                return Named(f"share {text}", FRACTION, ColumnType.FLOAT)
            case "sum" if type_ is ColumnType.BOOLEAN:
                return Named(f"number of {self.naming.rows} {text}", "", ColumnType.INTEGER, counts=True)
            case _:
                return Named(_measured(item, text, simple), unit, type_ or ColumnType.FLOAT)

    def _arithmetic(self, item: i.ArithmeticItem) -> Named:
        left, right = self.item(item.left), self.item(item.right)
        text = f"{_bracketed(item.left, left)} {_OPERATORS[item.op]} {_bracketed(item.right, right)}"
        return Named(text, _unit(item, left, right), ColumnType.FLOAT)

    def derivation(self, item: d.Derivation, source: Named) -> Named:
        """What a derived column is called where the plan refers to it; `source` is what it is derived from."""
        match item:
            case d.ShareOfTotal():
                whole = f"all {source.text.removeprefix('number of ')}" if source.counts else source.text
                return Named(f"share of {whole}", FRACTION, ColumnType.FLOAT)
            case d.Rank():
                return Named(f"rank by {source.text}", "", ColumnType.INTEGER)
            case d.ZScore():
                return Named(f"z-score of {source.text}", "", ColumnType.FLOAT)
            case d.Change(kind="percent"):
                return Named(f"relative change in {source.text}", FRACTION, ColumnType.FLOAT)
            case d.Change():
                return Named(f"change in {source.text}", source.unit, source.type)
            case d.RunningTotal():
                return Named(f"running total of {source.text}", source.unit, source.type)

    def full_derivation(self, item: d.Derivation, source: Named, named: dict[str, Named]) -> str:
        """The same with what it walks along and starts afresh in; `named` are the output columns."""
        text = self.derivation(item, source).text
        if isinstance(item, d.Change):
            text += f" from {_called(item.along, named)} to {_called(item.along, named)}"
        if isinstance(item, d.RunningTotal):
            text += f" by {_called(item.along, named)}"
        groups = joined(list(dict.fromkeys(_called(name, named) for name in item.within or ())))
        return f"{text} within each {groups}" if groups else text


def _measured(item: i.AggItem, text: str, simple: bool) -> str:
    word = {"sum": "total", "avg": "average", "median": "median"}.get(item.agg, item.agg)
    if item.distinct:
        return f"{word} of the different {plural(text)}"
    if item.agg == "sum" and simple and "total" in text.split(" "):
        return f"sum of {plural(text)}"
    if simple and text.split(" ")[0] != word:
        return f"{word} {text}"
    return f"{word} of {text}"


def _bracketed(item: i.AnyItem, named: Named) -> str:
    where = isinstance(item, i.AggItem) and bool(item.where)
    return f"({named.text})" if where or isinstance(item, i.ArithmeticItem) else named.text


def _unit(item: i.ArithmeticItem, left: Named, right: Named) -> str:
    if (
        item.op == "/"
        and left.counts
        and right.counts
        and isinstance(item.left, i.AggItem)
        and item.left.where
    ):
        return FRACTION
    if isinstance(item.right, i.ValueOperand):
        return PERCENT if item.op == "*" and left.unit == FRACTION and item.right.value == 100 else left.unit
    if isinstance(item.left, i.ValueOperand):
        return PERCENT if item.op == "*" and right.unit == FRACTION and item.left.value == 100 else ""
    if item.op in ("+", "-"):
        return left.unit if left.unit == right.unit else ""
    return left.unit if right.counts or right.unit in ("", "units", FRACTION) else ""


def _called(name: str, named: dict[str, Named]) -> str:
    found = named.get(name.lower())
    return found.text if found else words(name.rpartition(".")[2] or name)
