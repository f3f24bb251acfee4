"""What a plan selects and derives, in words: "average discount rate", "number of orders", "share of revenue"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sandtable.catalog.model import ColumnType
from sandtable.catalog.units import canonical
from sandtable.plan import derivations as d
from sandtable.plan import filters as f
from sandtable.plan import items as i
from sandtable.plan.units import FRACTION, PERCENT
from sandtable.plan.windows import TimeWindow
from sandtable.wording import conditions
from sandtable.wording.figures import number_of, shown
from sandtable.wording.naming import Named, Naming
from sandtable.wording.phrases import joined, ordinal, plural, shared, singular, words
from sandtable.wording.windows import Anchored, window

_MOMENTS = (ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME)
_OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_BUCKETS = {
    "day_of_week": "day of the week",
    "month_of_year": "month of the year",
    "hour_of_day": "hour of the day",
    "day_name": "day of the week",
    "month_name": "month of the year",
    "hour_name": "hour of the day",
}


@dataclass(frozen=True, slots=True)
class Items:
    naming: Naming
    outputs: Callable[[str], Named] | None = None
    """The words for output columns, where names refer to those."""

    def column(self, name: str) -> Named:
        return self.outputs(name) if self.outputs is not None else self.naming.column(name)

    @property
    def terms(self) -> conditions.Terms:
        return conditions.Terms(self.column, self.item, self._is_in, self._related)

    def item(self, item: i.AnyItem) -> Named:
        named = self._item(item)
        unit = getattr(item, "unit", None)
        if not isinstance(unit, str):
            return named
        said = canonical(unit)
        return replace(named, text=f"{named.text} in {'percent' if said == PERCENT else said}", unit=said)

    def _item(self, item: i.AnyItem) -> Named:
        match item:
            case i.ColumnItem(column="*"):
                return Named("all columns")
            case i.ColumnItem(column=name):
                return self.column(name)
            case i.MetricItem(metric=name):
                return self._restricted(self.naming.metric(name), item.where, item.within)
            case i.ElapsedItem():
                return self._elapsed(item)
            case i.ElementsItem(elements=name):
                return self._elements(item, self.column(name).text)
            case i.HoldsItem(holds=holds):
                text = conditions.all_of(holds, self.terms)
                return Named(f"whether {text}", "", ColumnType.BOOLEAN)
            case i.BucketItem():
                return self.bucket(item)
            case i.AggItem():
                return self._aggregate(item)
            case i.ArithmeticItem():
                return self._arithmetic(item)
            case i.ValueOperand(value=value):
                number = number_of(value)
                return Named(shown(number) if number is not None else str(value))

    def _elements(self, item: i.ElementsItem, text: str) -> Named:
        if item.take == "count":
            return Named(f"number of {plural(text)}", "", ColumnType.INTEGER, counts=True)
        return Named(singular(text), "", ColumnType.TEXT)

    def bucket(self, item: i.BucketItem) -> Named:
        unit = _BUCKETS.get(item.bucket, item.bucket.replace("_", " "))
        named = item.bucket.endswith("_name")
        type_ = (
            ColumnType.TEXT if named else ColumnType.INTEGER if item.bucket in _BUCKETS else ColumnType.DATE
        )
        said = Named(unit, "", type_, bucket=item.bucket)
        if item.of is not None:
            return replace(said, text=f"{unit} of {self.item(item.of).text}")
        usual = (self.naming.time_column() or "").rpartition(".")[2]
        name = item.column.rpartition(".")[2] if item.column else usual
        if name.lower() == usual.lower():
            return said
        return replace(said, text=f"{unit} of {words(name)}")

    def _elapsed(self, item: i.ElapsedItem) -> Named:
        start, end = self._end(item.from_), self._end(item.to)
        text = (
            f"time from {start} to {end}"
            if start and end
            else f"time since {start}"
            if start
            else f"time until {end}"
        )
        return Named(f"{text} in {item.elapsed}s", f"{item.elapsed}s", ColumnType.FLOAT)

    def _end(self, end: str | i.AggItem | i.BucketItem | None) -> str:
        if end is None:
            return ""
        if not isinstance(end, str):
            return f"the {self.item(end).text}"
        text = self.column(end).text
        return text.removeprefix("time ").removeprefix("day ").removesuffix(" at").removesuffix(" on")

    def _is_in(self, time: TimeWindow) -> str:
        """A time window as a condition."""
        name = time.column or self.naming.time_column()
        what = self.column(name).text if name else "time"
        return f"{what} is {self.window(time, named=False)}"

    def _related(self, rows: f.RelatedRows) -> tuple[str, str]:
        naming = Naming(self.naming.dataset, self.naming.dataset.table(rows.table))
        inner = Items(naming)
        noun = naming.rows if naming.rows != "rows" else f"rows of {words(rows.table)}"
        if rows.via is not None:
            noun = f"{noun} by {inner.column(rows.via).text}"
        times = [inner.window(part.time) for part in rows.where if isinstance(part, f.InWindow)]
        rest = [part for part in rows.where if not isinstance(part, f.InWindow)]
        return " ".join([noun, *times]), conditions.restriction(rest, inner.terms)

    def window(self, time: TimeWindow, *, named: bool = True) -> str:
        usual = self.naming.time_column()
        name = time.column or usual
        dated = name is not None and self.column(name).type is ColumnType.DATE
        return window(Anchored.of(time, self.naming.dataset, dated), usual if named else time.column)

    def _aggregate(self, item: i.AggItem) -> Named:
        return self._restricted(self._plain_aggregate(item), item.where, item.within)

    def _restricted(self, named: Named, where: f.Filters, within: tuple[str, ...] | None) -> Named:
        """A time window stands right after what it restricts, other conditions after "where"."""
        times = [self.window(part.time) for part in where if isinstance(part, f.InWindow)]
        rest = conditions.all_of([part for part in where if not isinstance(part, f.InWindow)], self.terms)
        text = " ".join([named.text, *times])
        if rest:
            text = f"{text} where {rest}"
        if within is not None:
            groups = joined([self.column(name).text for name in within])
            text = f"{text} of the same {groups}" if groups else f"{text} overall"
        return replace(named, text=text)

    def _plain_aggregate(self, item: i.AggItem) -> Named:
        if item.counts_rows:
            return Named(f"number of {self.naming.rows}", "", ColumnType.INTEGER, counts=True)
        operand = self.item(item.of) if item.of is not None else self.column(item.column or "")
        text, unit, type_ = operand.text, operand.unit, operand.type
        simple = item.of is None or isinstance(item.of, i.ElapsedItem | i.ElementsItem)
        if item.agg in ("count", "count_distinct"):
            return self._counted(item, text)
        if isinstance(item.of, i.HoldsItem) and item.agg in ("sum", "avg"):
            return self._held(item, text.removeprefix("whether "))
        match item.agg:
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
            case "correlation":
                other = self.column(item.with_ or "").text
                return Named(f"correlation of {text} and {other}", "", ColumnType.FLOAT)
            case "stddev":
                return Named(f"standard deviation of {text}", unit, ColumnType.FLOAT)
            case "avg" if type_ is ColumnType.BOOLEAN:
                return Named(f"share {text}", FRACTION, ColumnType.FLOAT)
            case "sum" if type_ is ColumnType.BOOLEAN:
                return Named(f"number of {self.naming.rows} {text}", "", ColumnType.INTEGER, counts=True)
            case _:
                return Named(_measured(item, text, simple), unit, type_ or ColumnType.FLOAT)

    def _counted(self, item: i.AggItem, text: str) -> Named:
        if item.agg == "count_distinct" or item.distinct:
            return Named(f"number of different {plural(text)}", "", ColumnType.INTEGER, counts=True)
        return Named(f"number of {self.naming.rows} with {text}", "", ColumnType.INTEGER, counts=True)

    def _held(self, item: i.AggItem, condition: str) -> Named:
        rows = f"{self.naming.rows} where {condition}"
        if item.agg == "avg":
            return Named(f"share of {rows}", FRACTION, ColumnType.FLOAT)
        return Named(f"number of {rows}", "", ColumnType.INTEGER, counts=True)

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
            case d.Change(from_=earlier) if earlier is not None:
                start = _change_between(self.column(earlier).text, source.text)
                if item.kind == "percent":
                    return Named(f"relative {start}", FRACTION, ColumnType.FLOAT)
                return Named(start, source.unit, source.type)
            case d.Change(kind="percent"):
                return Named(f"relative change in {source.text}", FRACTION, ColumnType.FLOAT)
            case d.Change():
                return Named(f"change in {source.text}", source.unit, source.type)
            case d.RunningTotal():
                return Named(f"running total of {source.text}", source.unit, source.type)
            case d.Position():
                return Named(f"position by {source.text}", "", ColumnType.INTEGER)
            case d.Previous() | d.Next():
                return Named(f"{item.shape.strip('<>')} {source.text}", source.unit, source.type)
            case _:
                return self._expression(item)

    def _expression(self, item: d.Run | d.Expression) -> Named:
        if not isinstance(item, d.Run):
            return self.item(item)
        held = conditions.all_of(item.run, self.terms)
        return Named(f"run of rows where {held}", "", ColumnType.INTEGER)

    def full_derivation(self, item: d.Derivation, source: Named, named: dict[str, Named]) -> str:
        """The same with the column it is ordered by and those it restarts in; `named` are the output columns."""
        text = self.derivation(item, source).text
        if isinstance(item, d.Expression):
            return f"{text} over all rows" if isinstance(item, i.AggItem) and item.within is None else text
        if isinstance(item, d.Change) and item.along is not None:
            text += f" from {_called(item.along, named)} to {_called(item.along, named)}"
        if isinstance(item, d.RunningTotal | d.Previous | d.Next | d.Run):
            text += f" by {_called(item.along, named)}"
        if isinstance(item, d.Run) and item.step is not None:
            text = text.replace("run of rows", f"run of consecutive {item.step}s", 1)
        groups = joined(list(dict.fromkeys(_called(name, named) for name in item.within or ())))
        return f"{text} within each {groups}" if groups else text


def _change_between(earlier: str, later: str) -> str:
    head, before, after = shared(earlier, later)
    if not head:
        return f"change from {earlier} to {later}"
    return f"change in {head} from {before.removeprefix('in ')} to {after.removeprefix('in ')}"


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
