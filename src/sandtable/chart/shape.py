"""A result's columns by their role in a chart: keys for the axes, measures to draw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sandtable.catalog.units import split_unit
from sandtable.chart.asked import Asked
from sandtable.chart.cells import Column, drawn
from sandtable.chart.rules import MAKER
from sandtable.plan.items import AggItem, BucketUnit, ElapsedItem, MetricItem
from sandtable.plan.model import QueryPlan
from sandtable.plan.result_columns import ColumnMeaning, describe_by_plan
from sandtable.plan.units import FRACTION

Role = Literal["time", "period", "category", "identifier", "measure", "other"]
"""`period` is a number that has an order and no size, such as a year or an hour of the day."""

_PERIODS: tuple[tuple[str, float, float], ...] = (
    (r"year|yr", 1000, 3000),
    (r"decade", 1000, 3000),
    (r"quarter|qtr", 1, 4),
    (r"month|month_of_year|month_number", 1, 12),
    (r"week|week_of_year|week_number", 0, 53),
    (r"weekday|dow|day_of_week|isodow", 0, 7),
    (r"day|day_of_month|day_of_year", 1, 366),
    (r"hour|hour_of_day", 0, 23),
)
_IDENTIFIER = re.compile(
    r"(?:^|_)(?:id|ids|uuid|key|code|zip|zipcode|postcode|number|no|nr)$|[a-z]ID$|[a-z]Id$"
)
_FRACTION = re.compile(
    r"(?:^|[_ ])(?:rate|share|ratio|fraction|proportion|percentage|percent|pct|discount)$", re.IGNORECASE
)
_REFERENCE = re.compile(
    r"(?:^|[_ ])(?:target|goal|benchmark|threshold|budget|overall|reference)(?:$|[_ ])|^(?:all|total)_(?:avg|average)_",
    re.IGNORECASE,
)

COUNTS = frozenset(("count", "n", "cnt", "count_star()", "row_count"))
"""Default names of columns that count rows."""
_KEEP_THE_UNIT = frozenset(("avg", "min", "max", "median", "quantile"))
_COMPUTED_BY_WHY = frozenset(("contribution", "effect", "share_of_change"))


@dataclass(frozen=True, slots=True)
class Words:
    """The plan in words, for the title. Where words are missing, the column names are used."""

    columns: tuple[str, ...] = ()
    """What each column of the result is."""
    head: str = ""
    """What is shown, where the columns do not say it."""
    scope: str = ""
    """For which time and under which conditions."""
    units: tuple[str, ...] = ()
    """Of each column, by the plan and the catalog; empty without the catalog."""


NO_WORDS = Words()


@dataclass(frozen=True, slots=True)
class Reading:
    """What the plan says about its result."""

    columns: tuple[ColumnMeaning, ...]
    grouped: bool | None
    """None without a plan."""
    table: str = ""
    order_by: str = ""
    cut: bool = False
    """Rows may be missing: a limit was reached, or groups were dropped."""
    words: Words = NO_WORDS
    maker: str = MAKER
    """The rules by which the figure is drawn."""

    @property
    def current(self) -> bool:
        return self.maker == MAKER


def reading_of(plan: QueryPlan | None, names: Sequence[str], rows: int, words: Words, maker: str) -> Reading:
    columns = describe_by_plan(plan, names) if plan is not None else None
    if plan is None or columns is None:
        return Reading(tuple(ColumnMeaning(name) for name in names), None, words=words, maker=maker)
    if plan.why is not None:
        return Reading(columns, True, order_by="contribution", words=words, maker=maker)
    return Reading(
        columns,
        plan.grouped,
        table=plan.table,
        order_by=plan.order_by[0].expr if plan.order_by else "",
        cut=bool((plan.limit is not None and rows >= plan.limit) or plan.having or plan.top_per_group),
        words=words,
        maker=maker,
    )


@dataclass(frozen=True, slots=True)
class Field:
    column: Column
    meaning: ColumnMeaning
    role: Role
    stated: str | None = None
    """The unit by the catalog; None by rules that do not read it."""

    @property
    def current(self) -> bool:
        """Whether it is shown by today's rules."""
        return self.stated is not None

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def ordered(self) -> bool:
        return self.role in ("time", "period")

    @property
    def fraction(self) -> bool:
        """0.25 stands for 25 %."""
        if self.derived and self.meaning.is_fraction:
            return True
        within = all(-1 <= value <= 1 for value in self.column.numbers)
        # The average of a rate is a rate, whatever it is called; a sum of rates is not.
        kept = self.meaning.column if self.meaning.aggregate in _KEEP_THE_UNIT else ""
        return within and any(_FRACTION.search(name) for name in (self.name, kept))

    @property
    def unit(self) -> str:
        """Empty for a fraction, which is shown as per cent."""
        return "" if self.fraction else self.given_unit or split_unit(self.name)[1]

    @property
    def shown_unit(self) -> str:
        """What is written beside its amounts. Which chart is drawn does not depend on it: the unit is the catalog's."""
        return self.stated or (FRACTION if self.fraction else self.unit)

    @property
    def given_unit(self) -> str:
        """The unit that the plan gives the value in. Of derived columns only elapsed time has it in figures."""
        said = not self.meaning.derived or isinstance(self.meaning.item, ElapsedItem)
        return self.meaning.unit if said else ""

    @property
    def grain(self) -> BucketUnit | None:
        return self.meaning.grain

    @property
    def counts(self) -> bool:
        """How many, not how much."""
        counting = self.meaning.aggregate in ("count", "count_distinct")
        return counting or self.name.lower() in COUNTS

    @property
    def derived(self) -> bool:
        """Computed over other columns of the result."""
        return self.meaning.derived or self.meaning.role in _COMPUTED_BY_WHY

    @property
    def compares_columns(self) -> bool:
        """A change from one column of a row to another: the chart shows both, and the reader sees the change."""
        return bool(self.meaning.earlier)

    @property
    def largest(self) -> float:
        return max((abs(value) for value in self.column.numbers), default=0.0)

    @property
    def unique(self) -> bool:
        return len(self.column.distinct) == len(self.column.cells)


@dataclass(frozen=True, slots=True)
class Shape:
    rows: int
    keys: tuple[Field, ...]
    """Time, periods and categories, in the columns' order."""
    identifiers: tuple[Field, ...]
    measures: tuple[Field, ...]
    """The one that the chart is about first."""
    reading: Reading
    whole: bool
    """No row is known to be missing."""
    references: tuple[Field, ...] = ()
    """Measures with one value in all rows, to compare the others with: a target, an average over all."""


def shape_of(
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Any]],
    asked: Asked,
    plan: QueryPlan | None,
    truncated: bool,
    words: Words = NO_WORDS,
    maker: str = MAKER,
) -> Shape | None:
    """None when the rows do not fit the columns."""
    if any(len(row) != len(columns) for row in rows):
        return None
    reading = reading_of(plan, [name for name, _ in columns], len(rows), words, maker)
    fields = [
        _field(Column(name, kind, index, [row[index] for row in rows]), meaning, len(columns) == 1, reading)
        for index, ((name, kind), meaning) in enumerate(zip(columns, reading.columns, strict=True))
    ]
    references = _references(fields) if reading.current and len(rows) > 1 else ()
    others = [field for field in fields if field not in references]
    keys = [field for field in others if field.role in ("time", "period", "category")]
    measures = [field for field in others if field.role == "measure" and field.column.numbers]
    return Shape(
        rows=len(rows),
        keys=_telling(keys),
        identifiers=tuple(field for field in fields if field.role == "identifier"),
        measures=_primary_first(measures, asked, reading),
        reading=reading,
        whole=not truncated and not reading.cut,
        references=references,
    )


def _references(fields: Sequence[Field]) -> tuple[Field, ...]:
    """None where nothing would be left to compare with them."""
    found = tuple(field for field in fields if _is_reference(field))
    compared = any(field.role == "measure" and field not in found for field in fields)
    return found if compared else ()


def _is_reference(field: Field) -> bool:
    numbers = field.column.numbers
    named = isinstance(field.meaning.item, AggItem) and field.meaning.item.within is not None
    one = field.column.family == "number" and field.column.complete and len(set(numbers)) == 1
    return one and (named or _REFERENCE.search(field.name) is not None)


def _field(column: Column, meaning: ColumnMeaning, alone: bool, reading: Reading) -> Field:
    units = reading.words.units
    unit = units[column.index] if column.index < len(units) else meaning.unit
    return Field(column, meaning, _role(column, meaning, alone), unit if reading.current else None)


def _role(column: Column, meaning: ColumnMeaning, alone: bool) -> Role:
    match column.family:
        case "moment" | "text":
            return "time" if column.moments else "category"
        case "number":
            return _role_of_numbers(column, meaning, alone)
        case _:
            return "other"


def _role_of_numbers(column: Column, meaning: ColumnMeaning, alone: bool) -> Role:
    if meaning.grain is not None:
        return "period" if column.complete else "category"
    if meaning.role in ("rank", "position"):
        return "other"
    if meaning.derived or meaning.role == "measure" or meaning.role in _COMPUTED_BY_WHY:
        return "measure"
    if meaning.role in ("key", "dimension", "member"):
        return "period" if _is_period(column) else "category"
    if alone:
        return "measure"
    if _is_period(column):
        return "period"
    return "identifier" if _IDENTIFIER.search(column.name) and column.whole else "measure"


def _is_period(column: Column) -> bool:
    name = column.name.lower()
    return (
        column.whole
        and column.complete
        and any(
            re.search(rf"(?:^|[_ ])(?:{words})$", name)
            and all(low <= value <= high for value in column.numbers)
            for words, low, high in _PERIODS
        )
    )


def _telling(keys: list[Field]) -> tuple[Field, ...]:
    """The keys that differ between rows; the first one if none does."""
    kept = [key for key in keys if len(key.column.distinct) > 1]
    return tuple(kept or keys[:1])


def _primary_first(measures: list[Field], asked: Asked, reading: Reading) -> tuple[Field, ...]:
    wishes = (
        (("share_of_total", "share_of_change"), asked.share),
        (("change",), asked.change),
        (("running_total",), asked.running),
    )
    wished = [role for roles, wish in wishes if wish for role in roles]
    ordered = reading.order_by.lower()

    def place(field: Field) -> tuple[bool, bool, bool]:
        # A column that only serves another one (its z-score, its share) comes after it unless asked for.
        unordered = field.name.lower() != ordered or field.compares_columns
        unasked = field.meaning.role not in wished or field.compares_columns
        return (unasked, unordered, field.derived)

    return tuple(sorted(measures, key=place))


def axes(shape: Shape) -> tuple[Field, ...]:
    """The one or two keys that a chart spreads along; none when there are too many or they do not identify a row."""
    if shape.reading.grouped is False and _ranked(shape):
        return _naming(shape)
    unique = sorted((key for key in shape.keys if key.unique), key=_closeness)
    if len(shape.keys) >= 2 and unique:
        # One of them identifies each row; the others describe it.
        told = shape.reading.grouped or (shape.reading.grouped is None and len(shape.keys) == 2)
        return (unique[0],) if told else ()
    if len(shape.keys) == 1:
        return shape.keys if unique else ()
    if len(shape.keys) == 2:
        return shape.keys if tell_apart(*shape.keys) else ()
    return tuple(key for key in shape.identifiers if key.unique)[:1]


def _naming(shape: Shape) -> tuple[Field, ...]:
    """What each of the listed rows is called: its name, else its number, else its moment."""
    texts = sorted((key for key in shape.keys if not key.ordered), key=_closeness)
    moments = (key for key in shape.keys if key.ordered)
    return tuple(key for key in (*texts, *shape.identifiers, *moments) if key.unique)[:1]


def _closeness(key: Field) -> tuple[bool, bool, bool]:
    return not key.ordered, key.role != "time", key.column.family == "number"


def _ranked(shape: Shape) -> bool:
    return bool(shape.measures) and shape.measures[0].name.lower() == shape.reading.order_by.lower()


def pivot(one: Field, other: Field, measure: Field) -> dict[tuple[str, str], Any]:
    """The measure at each pair of labels; a pair that no row has, and a cell that is no number, is a gap."""
    return {
        (a, b): drawn(cell)
        for a, b, cell in zip(one.column.labels, other.column.labels, measure.column.cells, strict=True)
    }


def tell_apart(*keys: Field) -> bool:
    """Whether no two rows have the same keys."""
    labels = set(zip(*(key.column.labels for key in keys), strict=True))
    return len(labels) == len(keys[0].column.cells)


def alike(measures: Sequence[Field], most: int = 3, ratio: float = 5.0) -> tuple[Field, ...]:
    """The first measure and those that can share its axis: the same unit and about the same size."""
    first, *others = measures
    kept = [first, *(other for other in others if _share_an_axis(first, other, ratio))]
    return tuple(sorted(kept, key=lambda field: field.column.index)) if len(kept) <= most else (first,)


def same_thing(first: Field, other: Field) -> bool:
    """Whether two measures are one, of two periods or under two conditions: they are there to be compared."""
    return first.current and first is not other and _about(first) == _about(other) is not None


def _about(field: Field) -> str | None:
    item = field.meaning.item
    if field.derived or not isinstance(item, AggItem | MetricItem):
        return None
    return item.model_dump_json(exclude={"where", "as_"})


def _share_an_axis(first: Field, other: Field, ratio: float) -> bool:
    if same_thing(first, other):
        return True
    if any(getattr(first, name) != getattr(other, name) for name in ("fraction", "unit", "counts")):
        return False
    if first.derived or other.derived or not first.largest:
        return False
    return 1 / ratio <= other.largest / first.largest <= ratio
