"""The model of datasets: tables, columns, relationships, metrics.

Invariant: an instance is consistent in itself. Every relationship and metric names tables and columns that exist; names
are unique regardless of case, as in DuckDB.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sandtable.catalog.live import LiveDatabase
from sandtable.catalog.recipe import Recipe


class ColumnType(StrEnum):
    """The logical types of the plan language. `sql_type` on a column keeps DuckDB's exact type."""

    TEXT = "text"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIME = "time"
    OTHER = "other"


class Meaning(StrEnum):
    """What the values of a column are; `catalog.proposed.meanings` proposes it."""

    MONEY = "money"
    PERCENT = "percent"
    DURATION = "duration"
    AMOUNT = "amount"
    """A number of something: may be added."""
    SCORE = "score"
    """A number that is averaged: a rate, a rating, a temperature."""
    DATE = "date"
    TIME = "time"
    IDENTIFIER = "identifier"
    EMAIL = "e-mail"
    PHONE = "phone"
    ADDRESS = "web address"
    PLACE = "place"
    PERSON = "person"
    YES_NO = "yes/no"
    CATEGORY = "category"
    TEXT = "text"


WeekStart = Literal["monday", "sunday", "saturday"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Column(_Frozen):
    name: str = Field(min_length=1, max_length=255)
    type: ColumnType
    sql_type: str
    """DuckDB's type, such as `DECIMAL(10,2)`."""
    description: str = ""
    unit: str = ""
    nullable: bool = True
    measure: Literal["additive", "averaged", "identifier"] | None = None
    """What may be done with its numbers; `catalog.measures` derives it from the name when absent."""
    better: Literal["high", "low"] | None = None
    """Which end of its values is the good one."""
    synonyms: tuple[str, ...] = ()
    """Other words for it, as people write them in questions."""
    meaning: Meaning | None = None
    """As a person stated it; `catalog.proposed.meanings` proposes one when absent."""
    masked: bool = False
    """Whether no value of it is given to a model. It can be filtered, joined and grouped by."""


class Table(_Frozen):
    name: str = Field(min_length=1, max_length=255)
    description: str = ""
    synonyms: tuple[str, ...] = ()
    file: str
    """Source file name, such as `orders.csv`; of a table that stays in a database, its schema and name there."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Digest of the source file's bytes; of a table that stays in a database, of its place and its columns."""
    rows: int | None = None
    columns: tuple[Column, ...] = Field(min_length=1)
    time_column: str | None = None
    """The column that time windows use when a plan names none."""
    key: tuple[str, ...] = ()
    """The columns that together identify a row."""
    recipe: Recipe | None = None
    """How the source file was read; None where a registry declares the columns, and for versions that were stored
    before recipes existed."""

    def column(self, name: str) -> Column | None:
        return _called(name, self.columns)


class Relationship(_Frozen):
    """`many.column` refers to `one.column`, which is unique there."""

    many_table: str
    many_column: str
    one_table: str
    one_column: str


class Metric(_Frozen):
    """A named ratio or aggregate, declared once; see `plan.model` for how it is referred to.

    `numerator` and `denominator` are aggregate expressions of the plan language in JSON form
    (`{"agg": "count", "where": [...]}`); a metric without a denominator is its numerator.
    """

    name: str
    table: str
    description: str = ""
    synonyms: tuple[str, ...] = ()
    numerator: dict[str, Any]
    denominator: dict[str, Any] | None = None
    format: Literal["number", "percent", "currency", "duration"] = "number"
    better: Literal["high", "low"] | None = None
    """Which end of its values is the good one."""


_Named = TypeVar("_Named", Column, Table, Metric)


class Dataset(_Frozen):
    id: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$")
    title: str = ""
    description: str = ""
    tables: tuple[Table, ...] = Field(min_length=1)
    relationships: tuple[Relationship, ...] = ()
    metrics: tuple[Metric, ...] = ()
    prompts: tuple[str, ...] = ()
    as_of: str | None = None
    """The time that counts as 'now' in this data (ISO date or timestamp); relative time windows are anchored here."""
    week_start: WeekStart = "monday"
    fiscal_month: int | None = Field(default=None, ge=1, le=12)
    """The month in which a fiscal year begins; None where none is declared."""
    version: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    """Digest over the bytes and the schema of every table: see `catalog.version`."""
    catalog_version: str = Field(default="", pattern=r"^(sha256:[0-9a-f]{64})?$")
    """Digest over what the catalog says about these data: see `catalog.semantics`. Empty where it was not computed."""
    live: LiveDatabase | None = None
    """Where the rows stay in a database, which one and how its tables are read. `version` then pins the schema only."""

    @property
    def edition(self) -> str:
        """The key of what is made from the data and their description together."""
        return f"{self.version}{self.catalog_version}{self.as_of if self.live else ''}"

    def table(self, name: str) -> Table | None:
        return _called(name, self.tables)

    def metric(self, name: str) -> Metric | None:
        return _called(name, self.metrics)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _unique("table", [t.name for t in self.tables])
        _unique("metric", [m.name for m in self.metrics])
        for table in self.tables:
            _unique(f"column in {table.name}", [c.name for c in table.columns])
            if table.time_column and not table.column(table.time_column):
                raise ValueError(f"{table.name}: time_column {table.time_column!r} is not a column")
            for name in table.key:
                if not table.column(name):
                    raise ValueError(f"{table.name}: {name!r} of its key is not a column")
        for r in self.relationships:
            for table_name, column in ((r.many_table, r.many_column), (r.one_table, r.one_column)):
                table = self.table(table_name)
                if table is None or table.column(column) is None:
                    raise ValueError(f"relationship names {table_name}.{column}, which does not exist")
        if self.live is not None:
            _agree(self.live, self.tables)
        for metric in self.metrics:
            if self.table(metric.table) is None:
                raise ValueError(f"metric {metric.name} is on {metric.table}, which does not exist")
        return self


def on_the_day(dataset: Dataset, moment: str) -> Dataset:
    """Where its rows stay in a database, 'now' is the day of `moment` (ISO, UTC): that of the question."""
    return dataset if dataset.live is None else dataset.model_copy(update={"as_of": moment[:10]})


def _called(name: str, among: tuple[_Named, ...]) -> _Named | None:
    """A plain loop: plans look up names thousands of times, and a generator would cost twice as much."""
    wanted = name.lower()
    for each in among:
        if each.name.lower() == wanted:
            return each
    return None


def _agree(live: LiveDatabase, tables: tuple[Table, ...]) -> None:
    """Every table and column must be known to the database, so that no query can name another one."""
    for table in tables:
        there = live.table(table.name)
        if there is None:
            raise ValueError(f"{table.name} has no place in the database")
        for column in table.columns:
            if there.column(column.name) is None:
                raise ValueError(f"{table.name}.{column.name} has no place in the database")


def _unique(what: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise ValueError(f"duplicate {what}: {name!r}")
        seen.add(name.lower())
