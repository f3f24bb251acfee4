"""A dataset's tables, columns and metrics with their names split into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sandtable.catalog.model import ColumnType, Metric
from sandtable.catalog.profile import ColumnProfile

Json = dict[str, Any]
"""A plan, or a part of one, in JSON form."""

NUMERIC = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT})
TEMPORAL = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    table: str
    name: str
    type: ColumnType
    position: int
    words: tuple[str, ...]
    """Of the name, lower case: `order_date` is order, date."""
    stems: tuple[str, ...]
    description: str
    description_stems: frozenset[str]
    unit: str
    nullable: bool
    profile: ColumnProfile | None
    measure: Literal["additive", "averaged", "identifier"] | None = None
    """What may be done with its numbers, where the catalog states it."""

    def __hash__(self) -> int:
        # By its name alone: a profile has hundreds of values.
        return hash((self.table, self.name))

    @property
    def numeric(self) -> bool:
        return self.type in NUMERIC

    @property
    def temporal(self) -> bool:
        return self.type in TEMPORAL

    @property
    def stated_aggregate(self) -> Literal["sum", "avg"] | None:
        """How its numbers are put together where a question does not say it, if the catalog states that."""
        match self.measure:
            case "additive":
                return "sum"
            case "averaged":
                return "avg"
            case _:
                return None

    @property
    def boolean(self) -> bool:
        return self.type is ColumnType.BOOLEAN

    @property
    def text(self) -> bool:
        return self.type is ColumnType.TEXT

    @property
    def ref(self) -> str:
        return f"{self.table}.{self.name}"


@dataclass(frozen=True, slots=True)
class TableEntry:
    name: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    description_stems: frozenset[str]
    columns: tuple[ColumnEntry, ...]
    time_column: str | None
    rows: int | None

    def __hash__(self) -> int:
        return hash(self.name)

    def column(self, name: str) -> ColumnEntry | None:
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class MetricEntry:
    metric: Metric
    words: tuple[str, ...]
    stems: tuple[str, ...]
    description_stems: frozenset[str]

    def __hash__(self) -> int:
        return hash(self.metric.name)
