"""A result prepared for sentences: its columns, its rows, and what the plan says about them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from sandtable.catalog.model import ColumnType
from sandtable.wording import dates
from sandtable.wording.field import Field, Row
from sandtable.wording.phrases import singular

_PERIODS = ("day", "week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year")


@dataclass(frozen=True, slots=True)
class Order:
    field: Field
    descending: bool


@dataclass(frozen=True, slots=True)
class Result:
    question: str
    fields: tuple[Field, ...]
    rows: tuple[Row, ...]
    total: int
    """Rows there are, as far as known."""
    truncated: bool = False
    limit: int | None = None
    """Of the plan itself."""
    most: int | None = None
    """Rows after which the server cuts a plan without a limit."""
    order: Order | None = None
    grouped: bool = False
    row_noun: str = "rows"
    planned: bool = False
    """Whether a plan says what the rows are; of SQL only columns and rows are known."""
    looked_for: str = ""
    """Every condition in words."""
    where: str = ""
    """Filters in words, such as "where region is Europe", without those that the names in the rows show."""
    time: str = ""
    """The time window in words."""
    window: tuple[dt.date, dt.date] | None = None
    """The first day of the time window and the day after its last, where both are known."""
    having: str = ""
    top_by: tuple[str, ...] = ()
    """Names of the columns within which the first rows were kept."""
    top_descending: bool = True
    tested: Field | None = None
    """The column that counts, in the one row that was ranked first, whether it fits what was asked about it."""
    spent: frozenset[Decimal] = frozenset()
    """Numbers that the plan's conditions hold: a question's own number among them is not compared once more."""
    cause: tuple[str, str, str] | None = None
    """The measure that the rows decompose, and the two periods that they compare."""
    ties: bool = False
    """Rows that equal the last one within the limit were kept, too."""
    overall: tuple[tuple[str, str], ...] = ()
    """Column name in lower case and the shown value of the same measure over everything."""

    @property
    def keys(self) -> tuple[Field, ...]:
        """The columns that name a row. Identifiers beside a name column are left out."""
        keys = tuple(f for f in self.fields if not f.measure)
        names = [f for f in keys if f.text.endswith("name")]
        if len(names) == 1:
            head = names[0].text.rpartition(" ")[0]
            return tuple(f for f in keys if f is names[0] or not _identifies(f, head))
        return keys

    @property
    def measures(self) -> tuple[Field, ...]:
        return tuple(f for f in self.fields if f.measure and not f.derived)

    @property
    def cut(self) -> bool:
        """Whether there may be rows that are not here."""
        bound = self.limit if self.limit is not None else self.most
        return (
            self.truncated or self.total > len(self.rows) or (bound is not None and len(self.rows) >= bound)
        )

    @property
    def noun(self) -> str:
        """What the rows are, in the plural."""
        if not self.grouped:
            own = self.row_noun != "rows" or len(self.keys) != 1
            return self.row_noun if own else self.keys[0].noun
        if len(self.keys) == 1 and self.keys[0].type is not ColumnType.BOOLEAN:
            key = self.keys[0]
            return f"{key.bucket.replace('_', ' ')}s" if key.bucket in _PERIODS else key.noun
        return "groups"

    @property
    def scope(self) -> str:
        """What the rows are restricted to, to follow a noun."""
        both = f"{self.where}, {self.time}" if self.where and self.time else self.where or self.time
        return f" {both}" if both else ""

    @property
    def lead(self) -> str:
        """The same at the head of a sentence."""
        if self.where and self.row_noun == "rows":
            return f"{self.scope.strip()}, "
        if self.where:
            return f"among {self.row_noun}{self.scope}, "
        if not self.planned and len(self.rows) > 2:
            return f"among the {len(self.rows):,} rows, "
        return f"{self.time}, " if self.time else ""

    def label(self, row: Row) -> str:
        """What a row is called in a sentence."""
        names = [key.name_of(row) for key in self.keys if not key.is_time]
        text = (
            f"{names[0]} ({names[1]})"
            if len(names) == 2 and self.planned and not self.grouped
            else " / ".join(names)
        )
        for key in self.keys:
            if key.is_time:
                text = f"{text} {dates.at(key.bucket)} {key.show(row)}" if text else key.show(row)
        return text or "this row"

    def is_nameless(self, row: Row) -> bool:
        """A group of rows for which the one column that names groups is empty."""
        return len(self.keys) == 1 and self.keys[0].cell(row) is None

    def overall_of(self, field: Field) -> str:
        found = next((value for name, value in self.overall if name == field.name.lower()), "")
        return f", against {found} overall" if found else ""

    def one(self) -> str:
        return singular(self.noun)


def _identifies(field: Field, head: str) -> bool:
    """An identifier of the thing that a name column names: product_id or sku beside product_name."""
    last = field.text.rpartition(" ")[2].lower()
    return last in ("id", "sku", "code", "number") and (
        field.text.lower().startswith(head.lower()) or last == "sku"
    )
