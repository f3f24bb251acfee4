"""One column of a result, prepared for sentences: its name in words and how its cells are shown.

Invariant: a shown cell is inert Markdown and holds the cell's own value, rounded; nothing is computed.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from sandtable.catalog.calendar import USUAL, Calendar
from sandtable.catalog.model import ColumnType
from sandtable.plan.moments import read_moment
from sandtable.quoting import inert
from sandtable.wording import dates
from sandtable.wording.figures import CODE_WORDS, bare, number_of, shown
from sandtable.wording.phrases import is_many, plural

NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT})
MOMENTS = frozenset({ColumnType.DATE, ColumnType.TIMESTAMP})
_NAMELESS = ("name", "ID", "id", "number", "code", "key", "no")

_LONG_NAME = 40

Row = Sequence[Any]
Direction = Literal["high", "low"]


@dataclass(frozen=True, slots=True)
class Field:
    index: int
    name: str
    text: str
    """In words, inert."""
    type: ColumnType
    measure: bool
    """A value that was computed or may be compared; otherwise it names the row."""
    unit: str = ""
    bucket: str = ""
    """The unit of a time bucket."""
    calendar: Calendar = USUAL
    instant: bool = False
    """Its cells are instants, not local clock times."""
    counts: bool = False
    metric: bool = False
    derived: str = ""
    """What kind of derived column it is, such as zscore."""
    source: int | None = None
    """The column it is derived from."""
    earlier: int | None = None
    """The column that a change is measured from."""
    correlation: bool = False

    @property
    def is_time(self) -> bool:
        return bool(self.bucket) or self.type in MOMENTS

    @property
    def is_code(self) -> bool:
        """A number that serves as a name: shown without separators."""
        return self.text.rpartition(" ")[2].lower() in CODE_WORDS

    @property
    def things(self) -> str:
        """What is counted."""
        return self.text.removeprefix("number of ") if self.counts else self.text

    @property
    def many(self) -> bool:
        """A plain column of things, such as points: the most of them rather than the highest."""
        return (
            not self.counts
            and self.type is ColumnType.INTEGER
            and is_many(self.text)
            and " " not in self.text
        )

    @property
    def noun(self) -> str:
        """The noun for the rows that this column names: "products" for product name."""
        head, _, last = self.text.partition(" of the ")
        if last:
            return f"{plural(head)} of the {last}"
        head, _, last = self.text.rpartition(" ")
        return plural(head if head and last in _NAMELESS else self.text)

    @property
    def hidden(self) -> bool:
        """Rows are ordered by it, but it is not a column of the result."""
        return self.index < 0

    def cell(self, row: Row) -> Any:
        return row[self.index] if 0 <= self.index < len(row) else None

    def number(self, row: Row) -> Decimal | None:
        return number_of(self.cell(row)) if self.type in NUMBERS else None

    def show(self, row: Row) -> str:
        return self.show_cell(self.cell(row))

    def name_of(self, row: Row) -> str:
        """The text of the cell where it names the row."""
        cell = self.cell(row)
        if cell is None:
            return f"(no {self.text})"
        if isinstance(cell, bool):
            text = self.text.removeprefix("whether ")
            return text if cell else f"not {text}"
        number = self.number(row)
        if number is not None and self.text.startswith("time ") and self.unit:
            return shown(number, self.unit)
        if number is not None and not self.bucket:
            return f"{self.text} {bare(number) if number == number.to_integral_value() else shown(number)}"
        text = self.show(row)
        return f'"{text}"' if _is_wordy(text) else text

    def show_cell(self, cell: object) -> str:
        if cell is None:
            return f"no {self.text}"
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        number = number_of(cell) if self.type in NUMBERS else None
        if number is not None:
            return self._figure(number)
        if self.is_time and isinstance(cell, str):
            read = read_moment(cell)
            if self.instant and isinstance(read, dt.datetime):
                return dates.instant(read)
            if read is not None:
                return dates.period(read, self.bucket, self.calendar) if self.bucket else dates.moment(read)
        return inert(cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, default=str))

    def _figure(self, number: Decimal) -> str:
        whole = number == number.to_integral_value()
        named = dates.part(int(number), self.bucket) if self.bucket and whole else None
        if named is not None:
            return named
        if self.is_code and not self.counts and whole:
            return bare(number)
        # "Units sold: 5 units" would say it twice.
        return shown(number, "" if self.unit.lower() in self.text.lower().split(" ") else self.unit)


def _is_wordy(text: str) -> bool:
    """So long, or so much like a sentence, that a reader could not see where the name ends."""
    return not text.startswith("`") and (
        len(text) > _LONG_NAME or text.endswith((".", "!", "?", ":", ";", ","))
    )


def moment_of(field: Field, row: Row) -> dt.date | None:
    cell = field.cell(row)
    return read_moment(cell) if isinstance(cell, str) else None
