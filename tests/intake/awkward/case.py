"""One awkward file, and what must become of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Row = Sequence[object]


@dataclass(frozen=True)
class Case:
    file: str
    content: bytes
    columns: dict[str, str] = field(default_factory=dict[str, str])
    """By column: how it is read, and its unit where it has one: `money EUR`."""
    rows: int = 0
    tables: dict[str, int] = field(default_factory=dict[str, int])
    """Of a file with several tables, the rows of each."""
    asked: tuple[str, ...] = ()
    """Columns that are asked about."""
    answers: dict[str, str] = field(default_factory=dict[str, str])
    """By column; given after the questions were checked. `columns` and `rows` hold afterwards."""
    refused: str = ""
    """A part of the message with which it is refused."""
    repair: str = ""
    """A repair that is offered with the refusal; `columns` and `rows` hold when it was made."""
    misfits: dict[str, int] = field(default_factory=dict[str, int])
    cells: dict[str, Sequence[object]] = field(default_factory=dict[str, Sequence[object]])
    """Values of a column, from its first row on."""


def table(header: Row, rows: Iterable[Row], delimiter: str = ",", end: str = "\r\n") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def text(content: str, encoding: str = "utf-8") -> bytes:
    return content.encode(encoding)
