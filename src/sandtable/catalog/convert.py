"""The interface between ingestion and the sandbox: one source file in, a Parquet file for each of its tables out; then
columns compared.

An implementation of `Convert` reads the files in a sandbox. A file that cannot be used is an InvalidInput, whose
details hold the `repairs` that are offered; paths are relative to the data store's root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from sandtable.catalog.model import ColumnType
from sandtable.catalog.recipe import FileQuestion, Misfit, Recipe, Repair, SourceKind

SourceFormat = SourceKind | Literal[""]
"""By the ending of the file's name; empty for an archive, whose members say what they are."""


@dataclass(frozen=True, slots=True)
class ConvertRequest:
    table: str
    """The name of the file's table; a prefix of their names where it has several."""
    source: str
    """Such as `incoming/<id>/orders.csv`. A `csv` may use any delimiter when its columns are sniffed."""
    format: SourceFormat
    columns: tuple[tuple[str, str], ...] | None
    """Name and SQL type of each column that a registry declares; None to detect them."""
    staging: str
    """Folder to write to, such as `staging/<id>`."""
    recipes: Mapping[str, Recipe] | None = None
    """By table, applied as they are; None to decide by the file's evidence."""
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    """By `FileQuestion.id`. An answer to a question that is not open chooses how the column is read."""
    repairs: tuple[str, ...] = ()
    """`Repair.id` of each repair that a person agreed to."""


@dataclass(frozen=True, slots=True)
class ConvertedColumn:
    name: str
    sql_type: str
    """As the engine names it."""
    type: ColumnType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Reference:
    """A column that refers to the column of another table, as the file declares. The data may say otherwise."""

    column: str
    table: str
    referred: str


@dataclass(frozen=True, slots=True)
class ConvertedTable:
    table: str
    columns: tuple[ConvertedColumn, ...]
    rows: int
    output: str | None
    """File name inside `staging`; None while a question is open."""
    latest: dict[str, str] = field(default_factory=dict[str, str])
    """Greatest value, in ISO form, of date and timestamp columns, where known: becomes `as_of`."""
    recipe: Recipe | None = None
    """How it was read; None for declared columns."""
    misfits: tuple[Misfit, ...] = ()
    """The first of the cells that do not fit the rest of their column, which is text for that reason."""
    misfit_counts: dict[str, int] = field(default_factory=dict[str, int])
    """By column, how many there are."""
    notes: tuple[str, ...] = ()
    """What a person should know of how it was read."""
    repairs: tuple[Repair, ...] = ()
    """What could be done about it."""
    key: tuple[str, ...] = ()
    """The primary key that the file declares."""
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class ConvertResult:
    tables: tuple[ConvertedTable, ...]
    questions: tuple[FileQuestion, ...] = ()
    """While one is open, nothing is converted."""


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
