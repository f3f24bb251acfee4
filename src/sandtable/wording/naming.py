"""The names of a plan in words: columns with their unit and type, and the noun for a row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.plan import items as i
from sandtable.plan.reading import read_metric_part
from sandtable.plan.resolved import ColumnRef
from sandtable.plan.scope import Scope
from sandtable.plan.units import FRACTION
from sandtable.recent import Recent
from sandtable.wording.phrases import plural, words

_ROW_IS = re.compile(
    r"^(?:one|each) row (?:per|is an?|for each) ([a-z][a-z -]*?)(?= of\b| and\b| that\b| in\b|[.:;,]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Named:
    text: str
    unit: str = ""
    type: ColumnType | None = None
    counts: bool = False
    """A number of things: the most and the fewest of them rather than the highest and the lowest."""
    bucket: str = ""
    """The unit of a time bucket."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The names visible to a plan over `table`. An unknown name is read as words."""

    dataset: Dataset
    table: Table | None
    made: Mapping[str, Named] = field(default_factory=dict[str, Named])
    """What the columns of a table that a plan defines were computed as, by their names in lower case. With it they
    are called that, and not as the plan's author calls them."""

    def column(self, name: str) -> Named:
        if (known := self.made.get(name.rpartition(".")[2].lower())) is not None:
            return known
        key = (id(self.dataset), id(self.table), name)
        kept = _COLUMNS.get(key)
        if kept is None:
            kept = (self.dataset, self.table, self._named(name))
            _COLUMNS.put(key, kept)
        return kept[2]

    def _named(self, name: str) -> Named:
        column = self._column(name)
        if column is None:
            return Named(words(name.rpartition(".")[2] or name))
        return Named(_noun(words(column.name, column.unit), column.type), column.unit, column.type)

    def _column(self, name: str) -> Column | None:
        if self.table is None:
            return None
        found = Scope(self.dataset, self.table, aggregating=False).column(name)
        table = self.dataset.table(found.table) if isinstance(found, ColumnRef) else None
        return table.column(found.column) if table and isinstance(found, ColumnRef) else None

    def time_column(self) -> str | None:
        """The default time column."""
        if self.table is None:
            return None
        found = Scope(self.dataset, self.table, aggregating=False).time_column()
        if not isinstance(found, ColumnRef):
            return None
        return found.column if found.table == self.table.name else f"{found.table}.{found.column}"

    def metric(self, name: str) -> Named:
        metric = self.dataset.metric(name)
        if metric is None:
            return Named(words(name))
        unit = FRACTION if metric.format == "percent" else self._metric_unit(metric.table, metric.numerator)
        return Named(words(metric.name, unit), unit, ColumnType.FLOAT)

    def _metric_unit(self, table: str, numerator: object) -> str:
        part = read_metric_part(numerator)
        if not isinstance(part, i.AggItem) or part.agg in ("count", "count_distinct") or part.column is None:
            return ""
        home = Naming(self.dataset, self.dataset.table(table))
        return home.column(part.column).unit

    @property
    def rows(self) -> str:
        """What the rows are, in the plural."""
        noun = row_noun(self.table) if self.table else "rows"
        return f'"{noun}"' if self.made else noun


_COLUMNS: Recent[tuple[int, int, str], tuple[Dataset, Table | None, Named]] = Recent(2_000)
"""Keyed by `id`: dataset and table are frozen, and the cache keeps them alive as long as their ids."""


def _noun(text: str, type_: ColumnType) -> str:
    """`created_at` is the time created, `installed_on` the day installed."""
    parts = text.split(" ")
    if len(parts) != 2 or not parts[0].endswith("ed") or type_ not in (ColumnType.DATE, ColumnType.TIMESTAMP):
        return text
    return {"at": f"time {parts[0]}", "on": f"day {parts[0]}"}.get(parts[1], text)


def row_noun(table: Table) -> str:
    """`order_items` are order items; an `inventory` with "One row per product" has products."""
    name = words(table.name)
    if name.lower().endswith("s") and not name.lower().endswith("ss"):
        return name
    told = _ROW_IS.match(table.description.strip())
    if told:
        return plural(told.group(1).strip())
    return "rows"
