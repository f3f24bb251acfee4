"""The seam between ingestion and the sandbox: one source file in, one Parquet file out.

Whoever implements `Convert` parses the file in a sandbox. A file that cannot be used is an
InvalidInput; paths are relative to the data store's root.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

SourceFormat = Literal["csv", "parquet"]


@dataclass(frozen=True, slots=True)
class ConvertRequest:
    table: str
    source: str
    """Such as `incoming/<id>/orders.csv`. A `csv` may use any delimiter when its columns are sniffed."""
    format: SourceFormat
    columns: tuple[tuple[str, str], ...] | None
    """Name and SQL type of each column; None to find out."""
    staging: str
    """Folder to write to, such as `staging/<id>`."""


@dataclass(frozen=True, slots=True)
class ConvertedColumn:
    name: str
    sql_type: str
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class ConvertResult:
    columns: tuple[ConvertedColumn, ...]
    rows: int
    output: str
    """File name inside `staging`."""
    latest: dict[str, str] = field(default_factory=dict[str, str])
    """Greatest value, in ISO form, of date and timestamp columns, where known: becomes `as_of`."""


class Convert(Protocol):
    async def __call__(self, request: ConvertRequest, /) -> ConvertResult: ...
