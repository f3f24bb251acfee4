"""The interface between ingestion and the sandbox: one source file in, one Parquet file out; then columns compared.

An implementation of `Convert` reads the files in a sandbox. A file that cannot be used is an InvalidInput; paths are
relative to the data store's root.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from sandtable.catalog.model import ColumnType

SourceFormat = Literal["csv", "parquet"]


@dataclass(frozen=True, slots=True)
class ConvertRequest:
    table: str
    source: str
    """Such as `incoming/<id>/orders.csv`. A `csv` may use any delimiter when its columns are sniffed."""
    format: SourceFormat
    columns: tuple[tuple[str, str], ...] | None
    """Name and SQL type of each column; None to detect them."""
    staging: str
    """Folder to write to, such as `staging/<id>`."""


@dataclass(frozen=True, slots=True)
class ConvertedColumn:
    name: str
    sql_type: str
    """As the engine names it."""
    type: ColumnType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class ConvertResult:
    columns: tuple[ConvertedColumn, ...]
    rows: int
    output: str
    """File name inside `staging`."""
    latest: dict[str, str] = field(default_factory=dict[str, str])
    """Greatest value, in ISO form, of date and timestamp columns, where known: becomes `as_of`."""


@dataclass(frozen=True, slots=True, order=True)
class ColumnPlace:
    table: str
    column: str


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """Columns of converted tables, before they are published."""

    files: dict[str, str]
    """By table, the file in `staging`."""
    ones: tuple[ColumnPlace, ...]
    pairs: tuple[tuple[ColumnPlace, ColumnPlace], ...]
    """A column, and the one of `ones` that it may refer to."""
    incoming: str
    staging: str


@dataclass(frozen=True, slots=True)
class Counts:
    rows: int
    filled: int
    """Rows that are not null."""
    distinct: int
    longest: int
    """Length of the longest value as text, in bytes."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """In the order of the request."""

    ones: tuple[Counts | None, ...]
    """None where counting ran out of memory."""
    pairs: tuple[tuple[int, int | None], ...]
    """Rows that are not null, and how many of them have a value that is not in the other column; None where the other
    column is not unique, or counting ran out of memory."""


class Convert(Protocol):
    async def __call__(self, request: ConvertRequest, /) -> ConvertResult: ...

    async def compare(self, request: CompareRequest, /) -> Comparison: ...
