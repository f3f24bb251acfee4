"""What a table's columns hold: counts, ranges and the values themselves, as far as they are few.

Made inside a sandbox, once for each version of a dataset. Tables of up to a million rows are counted in full.
Above that, a column that seems to have more than 100,000 values has those counted that come up in a sample of
a million rows; a column that would take too much memory or time has its counts only.

Cells have the form that results have on the wire (`sandbox.job.JobResult.rows`): a date is its ISO text, a
decimal of more than 15 digits too.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

Cell = str | int | float | bool | None

MOST_VALUES = 2_000
"""Values kept for one column, the most frequent ones."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ValueCount(_Frozen):
    value: Cell
    count: int = Field(ge=1)


class Bin(_Frozen):
    """Rows with `low <= value < high`; the last bin includes its upper end."""

    low: float
    high: float
    count: int = Field(ge=0)


class ColumnProfile(_Frozen):
    name: str
    nulls: int = Field(ge=0)
    distinct: int = Field(ge=0)
    """How many different values there are, empty cells apart; an estimate above a million rows."""
    minimum: Cell = None
    """Of numbers, the least finite one. Nothing for lists, structs and blobs, and for a text too long to list."""
    maximum: Cell = None
    values: tuple[ValueCount, ...] = ()
    """Most frequent first, at most MOST_VALUES, texts of up to 200 characters only; nothing for floating-point
    numbers with many values. Wide tables have fewer: the whole profile takes at most 4 MB."""
    complete: bool = False
    """Whether `values` holds every value there is."""
    histogram: tuple[Bin, ...] = ()
    """For numbers: 20 bins of equal width, or one where all are the same; of the finite ones."""


class TableProfile(_Frozen):
    name: str
    rows: int = Field(ge=0)
    columns: tuple[ColumnProfile, ...]

    def column(self, name: str) -> ColumnProfile | None:
        return next((c for c in self.columns if c.name.lower() == name.lower()), None)


class Profile(_Frozen):
    version: str
    """Of the dataset that was looked at."""
    tables: tuple[TableProfile, ...]

    def table(self, name: str) -> TableProfile | None:
        return next((t for t in self.tables if t.name.lower() == name.lower()), None)
